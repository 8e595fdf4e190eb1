package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.NeverFits;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** The holders are in the log, and not in messages, which services pass on to clients. */
class ShortageLogTest extends DeadlockLine {
    private final Logger log = (Logger) LoggerFactory.getLogger(ShortageLog.class);
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
    void holdersAreInTheLogOfAFailure() {
        deadlock(halves());
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
    void theOwnerOfAnExceededQuotaIsInTheLogOnly() {
        PoolSet set = halves().quota("q", HALF / 2).build();
        ReservationRequest request = ReservationRequest.of(HALF).withConsumer("q");
        assertThatThrownBy(() -> set.reserveNow(request))
                .hasMessageContaining("the quota is 32 bytes")
                .hasMessageNotContaining("'q'");
        assertThat(logged()).singleElement().asString().contains("for 'q': the quota of 'q' is 32 bytes");
    }

    @Test
    void theQuotaOfANestedCallIsInTheLogOnly() {
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
    void callersTryingAgainAndAgainAreLoggedOnceInTenSeconds() {
        PoolSet set = halves().build();
        holding(set, "a").keep();
        holding(set, "b").end();
        ReservationRequest request = ReservationRequest.of(HALF);
        for (int i = 0; i < 101; i++) {
            assertThatThrownBy(() -> set.reserveNow(request)).hasMessageNotContaining("'a'");
            clock.addAndGet(ShortageLog.EVERY_NANOS / 100);
        }
        assertThat(logged())
                .hasSize(2)
                .allSatisfy(line -> assertThat(line)
                        .contains("program 'a' holds 64 bytes while it is loaded")
                        .contains("call of 'b' holds 64 bytes in results that are not closed"))
                .last()
                .asString()
                .endsWith("(and 99 such warnings since the last one)");
    }

    @Test
    void impossibleCallsAreLoggedOnceInTenSeconds() {
        PoolSet set = halves().build();
        for (int i = 0; i < 10; i++) {
            tooMuch(set, "call " + i);
        }
        assertThat(logged())
                .hasSize(2)
                .first()
                .asString()
                .contains("waits for memory of results, tensors, inputs or programs")
                .contains("call of 'call 0' holds 128 bytes and waits for memory");
        assertThat(logged())
                .last()
                .asString()
                .contains("does not fit beside what its own call holds")
                .contains("for call of 'call 0'");
    }

    @Test
    void impossibleCallsDoNotHideOtherFailures() {
        PoolSet set = halves().build();
        tooMuch(set, "too much");
        appender.list.clear();
        holding(set, "a").keep();
        ReservationRequest request = ReservationRequest.of(HALF);
        holding(set, "b").keep();
        assertThatThrownBy(() -> set.reserveNow(request)).isInstanceOf(IreeException.class);
        assertThat(logged()).singleElement().asString().contains("exceeds the memory limit now");
    }

    /** A call that asks for more than all memory, piece by piece, keeping each as a result, and fails. */
    private void tooMuch(PoolSet set, String name) {
        MemoryHolder call = new MemoryHolder(name, new OperationsUnderWay());
        List<Reservation> results = new ArrayList<>();
        List<IreeException> failures = new ArrayList<>();
        MemoryHolder before = call.enter();
        for (int i = 0; i < 3; i++) {
            set.reserve(ReservationRequest.of(HALF).asPersistent(), (result, failure) -> {
                if (result == null) {
                    failures.add(failure);
                } else {
                    results.add(result);
                }
            });
        }
        call.leave(before);
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failures)
                .singleElement()
                .satisfies(e -> assertThat(e.detail(NeverFits.class)).contains(new NeverFits(HALF)));
        results.forEach(each -> each.release(Frontier.EMPTY));
        call.end();
    }
}
