# Runs one sample on the bytes of standard input.
#
# ruby main.rb verify-webhook <webhook-id> <webhook-timestamp> <webhook-signature>
# ruby main.rb sign-push <id of the integration>
# ruby main.rb create-attempt <idempotency key>
require_relative 'create_attempt'
require_relative 'sign_push'
require_relative 'verify_webhook'

command, *arguments = ARGV
body = $stdin.binmode.read
base_url = ENV.fetch('LAUREL_BASE_URL', '')
deadline_s = ENV.fetch('LAUREL_DEADLINE_SECONDS', Laurel::DEADLINE_S).to_f

begin
  case command
  when 'verify-webhook'
    Laurel.verify_webhook(ENV.fetch('LAUREL_WEBHOOK_SECRETS').split, *arguments, body)
    print body
  when 'sign-push'
    print Laurel.push_outcomes(base_url, *arguments, ENV.fetch('LAUREL_INTEGRATION_SECRET'), body, deadline_s)
  when 'create-attempt'
    print Laurel.create_attempt(base_url, ENV.fetch('LAUREL_API_KEY'), *arguments, body, deadline_s)
  else
    abort "there is no sample #{command}"
  end
rescue Laurel::Refused, Laurel::WebhookRefused => e
  abort "refused: #{e.message}"
rescue Laurel::Unanswered => e
  warn "unanswered: #{e.message}"
  exit 2
end
