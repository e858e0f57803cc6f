/** The fields of a creation and of a report that both owners read alike. They throw where a message is not valid: the gateway sends none. */
import { parseId, parseTenant } from '@laurel/grpc';
import type { KeyUse as KeyUseMessage, Tenant as TenantMessage } from '@laurel/proto/common';
import type { Tenant } from '@laurel/tenant';
import type { KeyUse } from '../domain/key-use.ts';
import { parseKeyUse } from './parse-key-use.ts';

type CreationMessage = {
  readonly attemptId: string;
  readonly tenant: TenantMessage | undefined;
  readonly playerRef: string;
  readonly metadataJson: string;
  readonly keyUse: KeyUseMessage | undefined;
};

type CreationFields = {
  readonly attemptId: string;
  readonly tenant: Tenant;
  readonly playerRef: string;
  /** An object as JSON text. */
  readonly metadata: string;
  readonly keyUse: KeyUse | null;
};

export function parseCreation(item: CreationMessage): CreationFields {
  return {
    attemptId: parseId(item.attemptId),
    tenant: parseTenant(item.tenant),
    playerRef: item.playerRef,
    metadata: item.metadataJson === '' ? '{}' : item.metadataJson,
    keyUse: parseKeyUse(item.keyUse),
  };
}

type ReportMessage = {
  readonly operationId: string;
  readonly attemptId: string;
  readonly tenant: TenantMessage | undefined;
  readonly score: number;
  readonly evidenceJson: string;
  readonly keyUse: KeyUseMessage | undefined;
};

type ReportFields = {
  readonly operationId: string;
  readonly attemptId: string;
  readonly tenant: Tenant;
  readonly score: number;
  /** An object as JSON text, or empty. */
  readonly evidence: string;
  readonly keyUse: KeyUse | null;
};

export function parseReport(item: ReportMessage): ReportFields {
  if (!Number.isFinite(item.score)) throw new Error('a score is not finite');
  return {
    operationId: parseId(item.operationId),
    attemptId: parseId(item.attemptId),
    tenant: parseTenant(item.tenant),
    score: item.score,
    evidence: item.evidenceJson,
    keyUse: parseKeyUse(item.keyUse),
  };
}
