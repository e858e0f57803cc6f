/**
 * Opaque cursors of lists that are read page by page: the encoded sort key of a page's last row.
 * They are opaque so that no caller relies on their parts.
 */
export { decodeCursor, encodeCursor } from './key-cursor.ts';
export { cutPage } from './page.ts';
export { decodePosition, encodePosition, type Position, TOP } from './position.ts';
