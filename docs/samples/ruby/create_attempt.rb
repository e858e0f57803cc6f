# Creates an attempt and charges its fee exactly once, over a network that loses answers.
require_relative 'send'

module Laurel
  # Returns the attempt as JSON text. `body` is the request as JSON text.
  #
  # `idempotency_key` belongs to one game start. Choose it and store it with the match before the
  # first call. Call again with the same key and body after `Unanswered` or a crash, and within 24
  # hours: a new key, or one that is older, would charge the player again.
  def self.create_attempt(base_url, api_key, idempotency_key, body, deadline_s = DEADLINE_S)
    headers = { 'X-API-Key' => api_key, 'Idempotency-Key' => idempotency_key }
    send_until_answered("#{base_url}/v1/attempts", headers, body, deadline_s)
  end
end
