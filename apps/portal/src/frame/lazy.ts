import { lazyRouteComponent } from '@tanstack/react-router';
import type { ComponentType } from 'react';

/** The script of a page, loaded when the page is opened. */
export function lazy(load: () => Promise<ComponentType>) {
  return lazyRouteComponent(async () => ({ default: await load() }));
}
