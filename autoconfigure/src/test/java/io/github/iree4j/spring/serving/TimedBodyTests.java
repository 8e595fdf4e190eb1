package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/** Bodies as streams with a time limit. */
@Timeout(60)
class TimedBodyTests {

    private static final Duration LONG = Duration.ofHours(1);

    private static DataBuffer buffer(String text) {
        return DefaultDataBufferFactory.sharedInstance.wrap(text.getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void anUnreadBodyIsNotSubscribedTo() throws IOException {
        AtomicInteger subscriptions = new AtomicInteger();
        Flux<DataBuffer> buffers = Flux.just(buffer("abc")).doOnSubscribe(_ -> subscriptions.incrementAndGet());
        new TimedBody(buffers, LONG, Schedulers.parallel()).close();
        assertThat(subscriptions).hasValue(0);
        try (TimedBody body = new TimedBody(buffers, LONG, Schedulers.parallel())) {
            assertThat(body.readAllBytes()).asString(StandardCharsets.US_ASCII).isEqualTo("abc");
        }
        assertThat(subscriptions).hasValue(1);
    }

    @Test
    void arrivedBytesAreAvailable() throws IOException {
        Flux<DataBuffer> buffers = Flux.concat(Flux.just(buffer("abc"), buffer("de")), Flux.never());
        try (TimedBody body = new TimedBody(buffers.subscribeOn(Schedulers.parallel()), LONG, Schedulers.parallel())) {
            assertThat(body.available()).isPositive();
            assertThat(body.readNBytes(5)).hasSize(5);
            assertThat(body.available()).isZero();
        }
    }

    @Test
    void aMissingBodyHasNothingAvailable() throws IOException {
        AtomicInteger cancellations = new AtomicInteger();
        try (TimedBody body = new TimedBody(
                Flux.<DataBuffer>never().doOnCancel(cancellations::incrementAndGet), LONG, Schedulers.parallel())) {
            assertThat(body.available()).isZero();
        }
        assertThat(cancellations).hasValue(1);
    }

    @Test
    void aTooLongReadFails() throws IOException {
        Flux<DataBuffer> buffers = Flux.concat(Flux.just(buffer("abc")), Flux.never());
        try (TimedBody body = new TimedBody(buffers, Duration.ofMillis(20), Schedulers.parallel())) {
            assertThat(body.readNBytes(3)).hasSize(3);
            assertThatExceptionOfType(SocketTimeoutException.class)
                    .isThrownBy(body::read)
                    .withMessageContaining("in 20 ms");
        }
    }
}
