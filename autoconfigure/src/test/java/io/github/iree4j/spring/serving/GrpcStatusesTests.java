package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.pool.NeverFits;
import io.github.iree4j.spring.RetryLater;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.grpc.Metadata;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

class GrpcStatusesTests {

    private static @Nullable String pushback(Throwable failure) {
        return GrpcStatuses.trailers(failure)
                .get(Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER));
    }

    @Test
    void clientsDoNotRetryWhatNeverFits() {
        assertThat(pushback(new IreeException(StatusCode.RESOURCE_EXHAUSTED, "no", null, new NeverFits(1 << 30))))
                .isEqualTo("-1");
        assertThat(pushback(new ResponseStatusException(HttpStatus.CONTENT_TOO_LARGE, "no")))
                .isEqualTo("-1");
    }

    @Test
    void clientsMayRetryAfterAPassingShortage() {
        assertThat(pushback(new IreeException(StatusCode.RESOURCE_EXHAUSTED, "no")))
                .isNull();
        assertThat(pushback(new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE, "no")))
                .isNull();
        assertThat(pushback(new IreeException(
                        StatusCode.RESOURCE_EXHAUSTED, "no", null, new RetryLater(Duration.ofMillis(1500)))))
                .isEqualTo("1500");
    }
}
