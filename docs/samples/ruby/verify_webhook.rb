# Verifies a webhook of Laurel over the raw bytes of its body, before anything parses them.
require 'openssl'

module Laurel
  TOLERANCE_S = 300

  # The request is not a webhook of Laurel, or not a recent one: answer 400 and do nothing.
  class WebhookRefused < StandardError; end

  # Raises WebhookRefused unless one of the secrets signed this delivery within five minutes.
  #
  # `secrets` are the endpoint's signing secret, as shown; both while it is replaced.
  # `id`, `timestamp` and `signatures` are the headers webhook-id, webhook-timestamp and
  # webhook-signature, or nil. `body` is the string of bytes that arrived.
  def self.verify_webhook(secrets, id, timestamp, signatures, body)
    raise ArgumentError, 'a signing secret is missing' if secrets.empty?
    raise WebhookRefused, 'header_missing' if [id, timestamp, signatures].any? { |it| it.nil? || it.empty? }

    signed = "#{id}.#{timestamp}.".b + body.b
    is_signed = false
    secrets.each do |secret|
      key = secret.delete_prefix('whsec_').unpack1('m0')
      expected = "v1,#{[OpenSSL::HMAC.digest('SHA256', key, signed)].pack('m0')}"
      # The header may hold several signatures. Each is compared, in constant time.
      signatures.split(' ').each { |signature| is_signed |= OpenSSL.secure_compare(expected, signature) }
    end
    raise WebhookRefused, 'signature_mismatch' unless is_signed

    # The time of this try, which is signed: a request that was captured is useless later.
    is_recent = timestamp.match?(/\A\d+\z/) && (Time.now.to_i - timestamp.to_i).abs <= TOLERANCE_S
    raise WebhookRefused, 'timestamp_out_of_tolerance' unless is_recent
  end
end
