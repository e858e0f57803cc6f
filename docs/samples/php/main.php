<?php

// Runs one sample on the bytes of standard input.
//
// php main.php verify-webhook <webhook-id> <webhook-timestamp> <webhook-signature>
// php main.php sign-push <id of the integration>
// php main.php create-attempt <idempotency key>

declare(strict_types=1);

namespace Laurel;

require_once __DIR__ . '/create_attempt.php';
require_once __DIR__ . '/sign_push.php';
require_once __DIR__ . '/verify_webhook.php';

function run(string $command, array $arguments, string $body): string
{
    $baseUrl = (string) getenv('LAUREL_BASE_URL');
    $deadlineS = (float) (getenv('LAUREL_DEADLINE_SECONDS') ?: DEADLINE_S);
    switch ($command) {
        case 'verify-webhook':
            [$id, $timestamp, $signatures] = $arguments;
            verifyWebhook(explode(' ', (string) getenv('LAUREL_WEBHOOK_SECRETS')), $id, $timestamp, $signatures, $body);
            return $body;
        case 'sign-push':
            return pushOutcomes($baseUrl, $arguments[0], (string) getenv('LAUREL_INTEGRATION_SECRET'), $body, $deadlineS);
        case 'create-attempt':
            return createAttempt($baseUrl, (string) getenv('LAUREL_API_KEY'), $arguments[0], $body, $deadlineS);
        default:
            throw new \InvalidArgumentException("there is no sample $command");
    }
}

try {
    echo run($argv[1] ?? '', array_slice($argv, 2), (string) stream_get_contents(STDIN));
} catch (Refused | WebhookRefused $error) {
    fwrite(STDERR, "refused: {$error->getMessage()}\n");
    exit(1);
} catch (Unanswered $error) {
    fwrite(STDERR, "unanswered: {$error->getMessage()}\n");
    exit(2);
}
