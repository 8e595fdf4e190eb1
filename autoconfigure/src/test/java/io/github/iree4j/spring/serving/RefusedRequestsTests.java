package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.RetryLater;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.grpc.Metadata;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;

/** Answers to clients refused for too many waiting requests. */
class RefusedRequestsTests {

    private static IreeException refused(Duration after) {
        return IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "too many", null, new RetryLater(after));
    }

    @Test
    void httpClientsLearnTheWholeSecondsUntilOthersHaveBeenServed() {
        ResponseEntity<ProtocolFailure> answer = ProtocolFailure.answer(refused(Duration.ofMillis(2_001)));
        assertThat(answer.getStatusCode().value()).isEqualTo(429);
        assertThat(answer.getHeaders().getFirst(HttpHeaders.RETRY_AFTER)).isEqualTo("3");
        assertThat(ProtocolFailure.answer(refused(Duration.ZERO)).getHeaders().getFirst(HttpHeaders.RETRY_AFTER))
                .isEqualTo("1");
    }

    @Test
    void clientsOfGrpcLearnTheMillisecondsInTheFormOfTheirRetries() {
        Metadata trailers = GrpcStatuses.trailers(refused(Duration.ofMillis(2_001)));
        assertThat(Objects.requireNonNull(
                        trailers.get(Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER))))
                .isEqualTo("2001");
        assertThat(GrpcStatuses.trailers(IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "no memory"))
                        .keys())
                .isEmpty();
    }
}
