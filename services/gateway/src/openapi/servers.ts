/** Where the routes of both documents are. */
export const SERVERS = [
  { url: '/', description: 'The host that serves this document. The base address of the partner API is its `/v1`.' },
  { url: 'http://127.0.0.1:8080', description: 'A host of your own, as `npm start` runs it.' },
];
