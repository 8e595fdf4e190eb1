package io.github.iree4j.spring.actuate.endpoint;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.springframework.http.MediaType;

/** A request computed on another thread fails as if the caller had computed. */
class LongRequestsTests {

    @Test
    void aFaultOfTheBodyReachesTheWaitingCallerUnwrapped() {
        IllegalStateException fault = new IllegalStateException("broken on purpose");
        try (LongRequests requests = new LongRequests(1, 1, "exports run", "export", false)) {
            assertThatThrownBy(() -> requests.answer(MediaType.TEXT_PLAIN, () -> {
                        throw fault;
                    }))
                    .isSameAs(fault);
        }
    }
}
