package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Log lines about objects dropped without being closed. */
class LeakLogTest {
    @Test
    void withoutPlacesOfCreationTheLineHasTheCallAndThePropertyToRecordThem() {
        Logger log = (Logger) LoggerFactory.getLogger(Leaks.class);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        log.addAppender(lines);
        try (IreeRuntime runtime = IreeRuntime.builder().taskWorkers(1).build()) {
            Leaks.Watch watch = new Leaks(false).watch(runtime, "of a test");
            watch.report("");
            watch.closed();
        } finally {
            log.detachAppender(lines);
        }
        assertThat(lines.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .contains(
                        "runtime of a test was never closed; its memory is lost. Set IreeRuntime.builder().traceLeaks(true), or with Spring iree.leaks.trace=true, to see where it was created");
    }
}
