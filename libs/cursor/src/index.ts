/** Opaque cursors of lists that are read page by page: the sort key of a page's last row, encoded so that no caller relies on its parts. */
export { decodeCursor, encodeCursor } from './key-cursor.ts';
export { cutPage } from './page.ts';
export { decodePosition, encodePosition, type Position, TOP } from './position.ts';
