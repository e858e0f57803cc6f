import { defineConfig } from 'vite';

/** `npx vite apps/portal` passes calls of the API on to the stack of `npm start`. */
const GATEWAY = 'http://127.0.0.1:8080';

export default defineConfig({
  base: '/portal/',
  build: {
    // The strict policy forbids inline code, and a preload would load pages that are not opened.
    modulePreload: false,
    assetsInlineLimit: 0,
    target: 'es2023',
    // Packages name their modules as clients of a server that the portal does not have.
    rolldownOptions: { checks: { moduleLevelDirective: false } },
  },
  server: { host: '127.0.0.1', proxy: { '/api': { target: GATEWAY, changeOrigin: true } } },
});
