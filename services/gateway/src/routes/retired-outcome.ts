/** `POST /api/attempts/{id}/outcome`: browsers once reported outcomes here. It answers 410 for ever, to anybody. */
import { DEFAULT_MESSAGE, HTTP_STATUS } from '@laurel/errors';
import type { RequestHandler } from 'express';
import { sendJson } from '../middleware/answer.ts';

const BODY = JSON.stringify({ error: DEFAULT_MESSAGE.client_reporting_removed, code: 'client_reporting_removed' });

export const retiredOutcome: RequestHandler = (_request, response) => {
  sendJson(response, HTTP_STATUS.client_reporting_removed, BODY);
};
