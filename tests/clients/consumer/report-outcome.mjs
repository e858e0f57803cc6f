// A partner's server that reports one outcome and prints how: its one argument is JSON, {baseUrl,
// apiKey, attemptId, score}.
import { Laurel } from '@laurel/sdk';

const { baseUrl, apiKey, attemptId, score } = JSON.parse(process.argv.at(-1));
const laurel = new Laurel({ apiKey, baseUrl });
const { data, replayed } = await laurel.attempts.reportOutcome(attemptId, { score }).withResponse();
console.log(JSON.stringify({ outcome: data, replayed }));
