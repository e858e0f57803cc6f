# Pushes outcomes to an integration of Laurel, signed.
require 'openssl'
require_relative 'send'

module Laurel
  # Returns the value of X-Service-Signature for exactly these bytes. The key is the text of the
  # secret as Laurel showed it, not the bytes that its digits spell.
  def self.sign_push(secret, body)
    "sha256=#{OpenSSL::HMAC.hexdigest('SHA256', secret, body)}"
  end

  # Returns Laurel's answer as JSON text. An outcome that has settled stays settled, once.
  def self.push_outcomes(base_url, integration_id, secret, body, deadline_s = DEADLINE_S)
    url = "#{base_url}/webhooks/integrations/#{integration_id}/outcome"
    send_until_answered(url, { 'X-Service-Signature' => sign_push(secret, body) }, body, deadline_s)
  end
end
