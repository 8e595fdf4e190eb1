package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Who holds what is in the log, and not in messages, which services pass on to their clients. */
class ShortageLogTest extends KnotLine {
    private final Logger log = (Logger) LoggerFactory.getLogger(Arbiter.class);
    private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

    @BeforeEach
    void listen() {
        appender.start();
        log.addAppender(appender);
    }

    @AfterEach
    void listenNoMore() {
        log.detachAppender(appender);
    }

    private List<String> logged() {
        return appender.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    @Test
    void whoHoldsWhatIsInTheLogOfAFailure() {
        knot(halves());
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed.get("more for b")).hasMessageNotContaining("call of 'a'");
        assertThat(logged())
                .singleElement()
                .asString()
                .contains("is given up for an older request")
                .contains(
                        "for call of 'b': of the limit of 128 bytes 128 are in use and 0 more in slabs that are in use")
                .contains("call of 'a' holds 64 bytes and waits for memory")
                .contains("call of 'b' holds 64 bytes and waits for memory")
                .contains("'a' has 64 bytes transient, 0 persistent");
    }

    @Test
    void whoseQuotaIsExceededIsInTheLogOnly() {
        PoolSet set = halves().quota("q", HALF / 2).build();
        ReservationRequest request = ReservationRequest.of(HALF).withConsumer("q");
        assertThatThrownBy(() -> set.reserveNow(request))
                .hasMessageContaining("the quota is 32 bytes")
                .hasMessageNotContaining("'q'");
        assertThat(logged()).singleElement().asString().contains("for 'q': the quota of 'q' is 32 bytes");
    }

    @Test
    void theQuotaOfACallThatAnotherHasMadeIsInTheLogOnly() {
        PoolSet set = halves().quota("q", HALF / 2).build();
        MemoryHolder outer = new MemoryHolder("outer", new OperationsUnderWay());
        MemoryHolder inner = new MemoryHolder("inner", new OperationsUnderWay(), null, outer);
        MemoryHolder before = inner.enter();
        ReservationRequest request = ReservationRequest.of(HALF).withConsumer("q");
        assertThatThrownBy(() -> set.reserveNow(request))
                .hasMessageContaining("exceeds a quota")
                .hasMessageNotContaining("32");
        inner.leave(before);
        assertThat(logged()).singleElement().asString().contains("for call of 'inner': the quota of 'q' is 32 bytes");
    }

    @Test
    void callersThatTryAgainAndAgainAreLoggedOnceASecond() {
        PoolSet set = halves().build();
        holding(set, "a").keep();
        holding(set, "b").end();
        ReservationRequest request = ReservationRequest.of(HALF);
        for (int i = 0; i < 100; i++) {
            assertThatThrownBy(() -> set.reserveNow(request)).hasMessageNotContaining("'a'");
            clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(15));
        }
        assertThat(logged())
                .hasSize(2)
                .allSatisfy(line -> assertThat(line)
                        .contains("program 'a' holds 64 bytes while it is loaded")
                        .contains("call of 'b' holds 64 bytes in results that are not closed"));
    }
}
