import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Sends a request to Laurel until it is answered. Every try sends the same bytes and headers. Only
 * for requests that take effect once however often they arrive: those with an Idempotency-Key, and
 * pushed outcomes.
 */
public final class Send {
  private static final Duration TRY_TIMEOUT = Duration.ofSeconds(10);
  /** Longer than the 60 seconds for which a request that died keeps its key in progress. */
  public static final Duration DEADLINE = Duration.ofSeconds(120);
  private static final long FIRST_DELAY_MS = 250;
  private static final long LONGEST_DELAY_MS = 8_000;

  /** A redirect is no answer of Laurel's, so none is followed. */
  private static final HttpClient CLIENT =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(TRY_TIMEOUT)
          .followRedirects(HttpClient.Redirect.NEVER)
          .build();

  /**
   * The `error.code` of a refusal, since Java's library reads no JSON; with a JSON library, read
   * the member. A quotation mark inside of a text has a backslash before it, so no text matches.
   */
  private static final Pattern CODE = Pattern.compile("(?<!\\\\)\"code\"\\s*:\\s*\"([a-z_]+)\"");

  private Send() {}

  /** Laurel refused the request and nothing was charged. The same request is refused again. */
  public static final class Refused extends Exception {
    public final int status;
    public final String code;

    Refused(int status, String code) {
      super(status + " " + code);
      this.status = status;
      this.code = code;
    }
  }

  /** Laurel may have acted. Send the same request again later, with the same key. */
  public static final class Unanswered extends Exception {
    Unanswered(String last) {
      super(last);
    }
  }

  /** Returns the body of a success; a replayed answer is one. */
  public static String untilAnswered(
      String url, Map<String, String> headers, byte[] body, Duration limit)
      throws Refused, Unanswered, InterruptedException {
    long deadline = System.nanoTime() + limit.toNanos();
    long longestDelayMs = FIRST_DELAY_MS;
    while (true) {
      String failure;
      long retryAfterMs = 0;
      try {
        HttpResponse<String> answer = post(url, headers, body);
        int status = answer.statusCode();
        if (status >= 200 && status < 300) return answer.body();
        String code = codeOf(answer.body());
        if (!isRepeated(status, code)) throw new Refused(status, code);
        failure = status + " " + code;
        retryAfterMs = 1_000 * secondsOf(answer.headers().firstValue("Retry-After").orElse(""));
      } catch (IOException error) {
        failure = error.toString();
      }
      // Jitter keeps servers that failed together from returning together.
      long delayMs = retryAfterMs + ThreadLocalRandom.current().nextLong(longestDelayMs);
      if (System.nanoTime() + delayMs * 1_000_000 - deadline >= 0) throw new Unanswered(failure);
      Thread.sleep(delayMs);
      longestDelayMs = Math.min(LONGEST_DELAY_MS, 2 * longestDelayMs);
    }
  }

  /** One try. An answer that ends too early is an IOException. */
  private static HttpResponse<String> post(String url, Map<String, String> headers, byte[] body)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url))
            .timeout(TRY_TIMEOUT)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofByteArray(body));
    headers.forEach(request::header);
    return CLIENT.send(request.build(), BodyHandlers.ofString());
  }

  private static boolean isRepeated(int status, String code) {
    return status == 429
        || status >= 500
        || (status == 409 && code.equals("idempotency_in_progress"));
  }

  /** The 429 has a body of another shape, and a proxy has none. */
  private static String codeOf(String answer) {
    Matcher code = CODE.matcher(answer);
    return code.find() ? code.group(1) : "";
  }

  private static long secondsOf(String retryAfter) {
    return retryAfter.matches("\\d{1,6}") ? Long.parseLong(retryAfter) : 0;
  }
}
