/** Parsed descriptors: parsing one takes longer than reading a body with it. */
import { isRefused } from '@laurel/errors';
import { type Descriptor, parseDescriptorText } from '../domain/descriptor.ts';

/** A parsed descriptor takes some kilobytes. */
const MAX_DESCRIPTORS = 1_000;

type Described = { readonly id: string; readonly descriptorText: string };

/**
 * Returns an integration's parsed descriptor, which was checked before it was stored. A full cache
 * drops the entry that was parsed first.
 */
export function createDescriptorCache(): (integration: Described) => Descriptor {
  const cached = new Map<string, { readonly text: string; readonly descriptor: Descriptor }>();

  return ({ id, descriptorText: text }) => {
    const known = cached.get(id);
    if (known?.text === text) return known.descriptor;
    const descriptor = parseDescriptorText(text, 'push_webhook');
    if (isRefused(descriptor)) throw new Error(`the stored descriptor of integration ${id} is ${descriptor.code}`);
    cached.delete(id);
    cached.set(id, { text, descriptor });
    const [first] = cached.keys();
    if (cached.size > MAX_DESCRIPTORS && first !== undefined) cached.delete(first);
    return descriptor;
  };
}
