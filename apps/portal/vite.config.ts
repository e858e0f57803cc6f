import { defineConfig, type UserConfig } from 'vite';

/** `npx vite` passes calls of the API on to the stack of `npm start`. */
const GATEWAY = 'http://127.0.0.1:8080';

/** The pages below one path; `root` is the folder of their `index.html`. */
export function pagesAt(base: '/portal/' | '/operator/', root: string): UserConfig {
  return defineConfig({
    base,
    root,
    build: {
      // The strict policy forbids inline code, and a preload would load pages that are not opened.
      modulePreload: false,
      assetsInlineLimit: 0,
      target: 'es2023',
      // Packages mark modules with `use client`, which matters only to a server that renders pages.
      rolldownOptions: { checks: { moduleLevelDirective: false } },
    },
    server: { host: '127.0.0.1', proxy: { '/api': { target: GATEWAY, changeOrigin: true } } },
  });
}

export default pagesAt('/portal/', import.meta.dirname);
