export { type ApiErrorCode, DEFAULT_MESSAGE, type ErrorCode, HTTP_STATUS, isApiErrorCode } from './error-codes.ts';
export { isRefused, type Refused, refused } from './refused.ts';
export { validationMessage } from './validation-message.ts';
