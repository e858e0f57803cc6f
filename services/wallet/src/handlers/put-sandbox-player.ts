/**
 * PutSandboxPlayer: creates, links and funds a partner's test player, and sets its facts, in one
 * call. If the ref already names an account, the call keeps this account, changes the facts that it
 * sends, and adds the funds. A new ref with the e-mail of a sandbox account of the program names
 * that account; any other new ref gets a new account.
 * The account plays with the program's own house: it can neither be linked nor funded in live, and
 * no other program can access it. A refused call changes nothing.
 */
import { isRefused, type Refused, refused } from '@laurel/errors';
import { type Database, isUniqueViolation, type Transaction } from '@laurel/postgres';
import type { PutSandboxPlayerRequest, PutSandboxPlayerResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { hashId, newId } from '@laurel/values/ids';
import { cents } from '@laurel/values/money';
import { checkFacts, normalizeEmail } from '../domain/account-details.ts';
import { decideDeposit } from '../domain/deposit-decision.ts';
import { houseOf, openBook, playerLedgerId } from '../domain/ledger.ts';
import { type AccountChange, insertAccount, loadAccountByEmail, updateAccount } from '../repository/accounts.ts';
import { openHouse } from '../repository/houses.ts';
import { lockOpenPlayers, playerLedgerKeyOf, withOpenPlayers, writeChanges } from '../repository/ledger.ts';
import {
  insertLink,
  isSeveredMeanwhile,
  loadLink,
  type PlayerLink,
  type PlayerName,
} from '../repository/player-links.ts';
import { parsePlayer } from './parse.ts';

type Deps = { readonly database: Database; readonly clock: Clock };
type Wanted = { readonly player: PlayerName; readonly facts: AccountChange; readonly fundsCents: bigint };

/**
 * The defaults describe a fully verified adult with a jurisdiction, so the rules refuse the player
 * only for facts that the partner sets.
 */
const SANDBOX_PERSON = { dateOfBirth: '1990-01-01', jurisdiction: 'US-CA', verificationLevel: 3 };

export function putSandboxPlayer(deps: Deps) {
  return async (request: PutSandboxPlayerRequest): Promise<PutSandboxPlayerResponse | Refused> => {
    const wanted = parseWanted(request, deps.clock());
    if (isRefused(wanted)) return wanted;
    try {
      return await put(deps, wanted);
    } catch (error) {
      if (isSeveredMeanwhile(error)) return refused('not_found');
      // Another call inserted the ref or the e-mail address first. The second run finds that call's
      // link, or finds that the address belongs to another player.
      if (!isUniqueViolation(error)) throw error;
      return await putAgain(deps, wanted);
    }
  };
}

async function putAgain(deps: Deps, wanted: Wanted): Promise<PutSandboxPlayerResponse | Refused> {
  try {
    return await put(deps, wanted);
  } catch (error) {
    if (isSeveredMeanwhile(error)) return refused('not_found');
    if (!isUniqueViolation(error, 'accounts_house_email_key')) throw error;
    return refused('conflict', 'Another sandbox player has this e-mail address.');
  }
}

function parseWanted(request: PutSandboxPlayerRequest, now: Date): Wanted | Refused {
  const player = parsePlayer(request.player);
  const { fundsCents, dateOfBirth, jurisdiction, verificationLevel, selfExcludedUntil } = request;
  if (player.environment !== 'test') return refused('invalid_request', 'Sandbox players exist in test only.');
  if (fundsCents < 0n) return refused('invalid_request', 'The funds must not be below 0.00.');
  // Refuses funds above the limit of an empty balance before it creates a player.
  const funding = decideFunding(0n, fundsCents);
  if (isRefused(funding)) return funding;
  const email = request.email === undefined ? undefined : normalizeEmail(request.email);
  const issue = checkFacts({ email, dateOfBirth, jurisdiction, verificationLevel, selfExcludedUntil }, now);
  if (issue !== null) return issue;
  const facts: AccountChange = {
    email,
    dateOfBirth,
    jurisdiction,
    verificationLevel,
    selfExcludedUntil,
    clearSelfExclusion: request.clearSelfExclusion ?? false,
    enforcementFlag: request.enforcementFlag,
    underInvestigation: request.underInvestigation,
    blocked: undefined,
  };
  return { player, facts, fundsCents };
}

async function put(deps: Deps, wanted: Wanted): Promise<PutSandboxPlayerResponse | Refused> {
  const { player, facts } = wanted;
  const link = await loadLink(deps.database, player);
  if (link !== null) return await change(deps, wanted, link.accountId, async () => link);
  const known =
    facts.email === undefined ? null : await loadAccountByEmail(deps.database, houseOf(player), facts.email);
  if (known !== null) {
    return await change(deps, wanted, known.id, (tx) => insertLink(tx, player, known.id, deps.clock()));
  }
  const created = await create(deps, wanted);
  return await change(deps, wanted, created.accountId, async () => created);
}

/** Creates an account with these facts, and the ref that names it. */
function create({ database, clock }: Deps, { player, facts }: Wanted): Promise<PlayerLink> {
  const createdAt = clock();
  const accountId = newId(createdAt);
  return database.transaction(async (tx) => {
    await openHouse(tx, player.programId);
    const email = `sandbox-${accountId}@sandbox.invalid`;
    await insertAccount(tx, { ...SANDBOX_PERSON, id: accountId, email, houseId: houseOf(player), createdAt });
    await updateAccount(tx, accountId, facts);
    const link = await insertLink(tx, player, accountId, createdAt);
    if (link === null) throw new Error('a new account was severed');
    return link;
  });
}

/**
 * Writes facts, link and funds in one transaction. Like all writers of money, it locks the balance
 * first.
 */
function change(
  { database, clock }: Deps,
  { player, facts, fundsCents }: Wanted,
  accountId: string,
  linkIn: (tx: Transaction) => Promise<PlayerLink | null>,
): Promise<PutSandboxPlayerResponse | Refused> {
  const key = playerLedgerKeyOf({ ...player, accountId });
  const ledgerId = playerLedgerId(accountId, 'test');
  return withOpenPlayers(database, [key], () =>
    database.transaction(async (tx) => {
      const book = openBook(await lockOpenPlayers(tx, [key]));
      const funding = decideFunding(book.balanceCents(ledgerId), fundsCents);
      if (isRefused(funding)) return funding;
      const link = await linkIn(tx);
      if (link === null) return refused('not_found');
      await updateAccount(tx, accountId, facts);
      if (funding === 'post') {
        const reference = `sandbox-${newId()}`;
        const amountCents = cents(fundsCents);
        book.post({ kind: 'deposit', id: hashId('deposit', ledgerId, reference), ledgerId, amountCents, reference });
        await writeChanges(tx, book.changes(), clock());
      }
      return { createdAt: link.createdAt, accountId };
    }),
  );
}

function decideFunding(balanceCents: bigint, fundsCents: bigint): 'post' | 'done' | Refused {
  if (fundsCents === 0n) return 'done';
  return decideDeposit({
    environment: 'test',
    balanceCents: cents(balanceCents),
    amountCents: cents(fundsCents),
    storedCents: null,
  });
}
