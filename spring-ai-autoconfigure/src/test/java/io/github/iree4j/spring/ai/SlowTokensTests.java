package io.github.iree4j.spring.ai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.github.iree4j.generation.Generation;
import io.github.iree4j.generation.GenerationRequest;
import io.github.iree4j.generation.TokenDelay;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.springframework.ai.observation.conventions.AiOperationType;

/** The memory of ended requests. */
class SlowTokensTests {
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

    private final SlowTokens tokens = new SlowTokens(InstantSource.fixed(NOW));

    private static TokenDelay delay(int index, int millis) {
        return new TokenDelay(
                index,
                Duration.ofMillis(millis),
                Duration.ofMillis(1),
                Duration.ofMillis(2),
                Duration.ofMillis(3),
                Duration.ofMillis(4),
                5);
    }

    private void end(long number, TokenDelay first, TokenDelay slowest) {
        Generation generation = mock(Generation.class);
        when(generation.number()).thenReturn(number);
        when(generation.request()).thenReturn(GenerationRequest.of(9, 1, 2, 3).tenant("anna"));
        when(generation.sharedTokens()).thenReturn(2);
        when(generation.firstDelay()).thenReturn(Optional.ofNullable(first));
        when(generation.slowestDelay()).thenReturn(Optional.ofNullable(slowest));
        tokens.ended(generation, AiOperationType.CHAT, Duration.ofSeconds(1), null);
    }

    private List<Long> numbers() {
        return tokens.slowest().stream().map(SlowToken::number).toList();
    }

    @Test
    void theSlowestTokensOfAllRequestsComeFirst() {
        end(0, delay(0, 30), delay(7, 20));
        end(1, delay(0, 10), delay(3, 40));
        end(2, delay(0, 25), null);
        assertThat(numbers()).containsExactly(1L, 0L, 2L, 0L, 1L);
        assertThat(tokens.slowest().getFirst()).isEqualTo(new SlowToken(NOW, 1, "anna", 3, 2, delay(3, 40)));
    }

    @Test
    void requestsWithoutATokenTakeNoPlace() {
        end(0, delay(0, 30), null);
        for (int i = 0; i < SlowTokens.REQUESTS; i++) {
            Generation failed = mock(Generation.class);
            when(failed.firstDelay()).thenReturn(Optional.empty());
            when(failed.slowestDelay()).thenReturn(Optional.empty());
            tokens.ended(
                    failed,
                    AiOperationType.CHAT,
                    Duration.ofSeconds(1),
                    IreeException.of(StatusCode.DEADLINE_EXCEEDED, "late"));
        }
        assertThat(numbers()).containsExactly(0L);
    }

    @Test
    void earlierRequestsAreForgottenAndTheAnswerIsShort() {
        end(-1, delay(0, 1000), delay(1, 1000));
        for (int i = 0; i < SlowTokens.REQUESTS - 1; i++) {
            end(i, delay(0, 10), delay(1, 20));
        }
        assertThat(numbers()).hasSize(SlowTokens.SHOWN).startsWith(-1L, -1L, 0L);
        end(500, delay(0, 30), null);
        assertThat(numbers()).hasSize(SlowTokens.SHOWN).doesNotContain(-1L).startsWith(500L);
    }
}
