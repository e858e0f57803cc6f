import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

/** Creates an attempt and charges its fee exactly once, over a network that loses answers. */
public final class CreateAttempt {
  private CreateAttempt() {}

  /**
   * Returns the attempt as JSON text; `body` is the request as JSON text.
   *
   * <p>`idempotencyKey` belongs to one game start. Choose it and store it with the match before the
   * first call. Call again with the same key and body after `Unanswered` or a crash, and within 24
   * hours: a new key, or one that is older, would charge the player again.
   */
  public static String createAttempt(
      String baseUrl, String apiKey, String idempotencyKey, String body, Duration limit)
      throws Send.Refused, Send.Unanswered, InterruptedException {
    Map<String, String> headers = Map.of("X-API-Key", apiKey, "Idempotency-Key", idempotencyKey);
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    return Send.untilAnswered(baseUrl + "/v1/attempts", headers, bytes, limit);
  }
}
