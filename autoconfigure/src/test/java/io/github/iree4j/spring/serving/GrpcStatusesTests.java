package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.RetryLater;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.NeverFits;
import io.github.iree4j.status.StatusCode;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

class GrpcStatusesTests {

    private static @Nullable String pushback(Throwable failure) {
        return GrpcStatuses.trailers(failure)
                .get(Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER));
    }

    @Test
    void clientsDoNotRetryImpossibleRequests() {
        assertThat(pushback(IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "no", null, new NeverFits(1 << 30))))
                .isEqualTo("-1");
        assertThat(pushback(new ResponseStatusException(HttpStatus.CONTENT_TOO_LARGE, "no")))
                .isEqualTo("-1");
    }

    @ParameterizedTest
    @EnumSource(names = {"ABORTED", "INTERNAL", "DATA_LOSS", "UNAVAILABLE"})
    void aLostDeviceHasTheSameStatusWhateverTheDriverReported(StatusCode code) {
        assertThat(GrpcStatuses.of(DeviceLostException.by("gpu", IreeException.of(code, "gone")))
                        .getCode())
                .isEqualTo(Status.Code.ABORTED);
    }

    @Test
    void clientsMayRetryAfterAPassingShortage() {
        assertThat(pushback(IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "no")))
                .isNull();
        assertThat(pushback(new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE, "no")))
                .isNull();
        assertThat(pushback(IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED, "no", null, new RetryLater(Duration.ofMillis(1500)))))
                .isEqualTo("1500");
    }
}
