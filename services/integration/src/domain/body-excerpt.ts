/** The beginning of a body, as the log keeps it. */
export { excerptOf } from '@laurel/json';
