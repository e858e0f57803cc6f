# Sends a request to Laurel until it is answered. Every try sends the same bytes and headers.
# Only for requests that take effect once however often they arrive: those with an
# Idempotency-Key, and pushed outcomes.
require 'json'
require 'net/http'
require 'openssl'
require 'uri'

module Laurel
  TRY_TIMEOUT_S = 10
  # Longer than the 60 seconds for which a request that died keeps its key in progress.
  DEADLINE_S = 120
  FIRST_DELAY_S = 0.25
  LONGEST_DELAY_S = 8.0

  # What a try raises when it has no whole answer.
  NO_ANSWER = [SystemCallError, IOError, SocketError, Timeout::Error, OpenSSL::SSL::SSLError,
               Net::HTTPBadResponse, Net::HTTPHeaderSyntaxError, Net::ProtocolError].freeze

  # Laurel refused the request and nothing was charged. The same request is refused again.
  class Refused < StandardError
    attr_reader :status, :code

    def initialize(status, code)
      super("#{status} #{code}")
      @status = status
      @code = code
    end
  end

  # Laurel may have acted. Send the same request again later, with the same key.
  class Unanswered < StandardError; end

  # Returns the body of a success; a replayed answer is one.
  def self.send_until_answered(url, headers, body, deadline_s = DEADLINE_S)
    deadline = now + deadline_s
    longest_delay = FIRST_DELAY_S
    loop do
      retry_after = 0
      begin
        response = post(URI(url), headers, body)
        status = response.code.to_i
        return response.body if status.between?(200, 299)

        code = code_of(response.body)
        raise Refused.new(status, code) unless repeated?(status, code)

        failure = "#{status} #{code}"
        retry_after = response['Retry-After'].to_i
      rescue *NO_ANSWER => e
        failure = "#{e.class}: #{e.message}"
      end
      # Jitter keeps servers that failed together from returning together.
      delay = retry_after + (rand * longest_delay)
      raise Unanswered, failure if now + delay >= deadline

      sleep(delay)
      longest_delay = [LONGEST_DELAY_S, 2 * longest_delay].min
    end
  end

  # One try. It follows no redirect.
  def self.post(uri, headers, body)
    http = Net::HTTP.new(uri.host, uri.port)
    http.use_ssl = uri.scheme == 'https'
    http.open_timeout = http.read_timeout = http.write_timeout = TRY_TIMEOUT_S
    fixed = { 'Content-Type' => 'application/json', 'Accept-Encoding' => 'identity' }
    response = http.start { |connection| connection.post(uri.path, body, fixed.merge(headers)) }
    # Net::HTTP returns what it has read where a connection ends too early.
    length = response.content_length
    raise EOFError, 'the answer is not whole' if length && length != response.body.to_s.bytesize

    response
  end

  def self.repeated?(status, code)
    status == 429 || status >= 500 || (status == 409 && code == 'idempotency_in_progress')
  end

  # The `error.code` of a refusal. The 429 has a body of another shape, and a proxy has none.
  def self.code_of(body)
    answer = JSON.parse(body.to_s)
    error = answer['error'] if answer.is_a?(Hash)
    error.is_a?(Hash) ? error['code'] : nil
  rescue JSON::ParserError
    nil
  end

  def self.now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  private_class_method :post, :repeated?, :code_of, :now
end
