/** Where the routes of both documents are served; generators derive names from the descriptions. */
export const SERVERS = [
  { url: '/', description: 'The host of this document' },
  { url: 'http://127.0.0.1:8080', description: 'npm start' },
];
