package io.github.iree4j.spring.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.flight.CriticalPath;
import io.github.iree4j.flight.OperationGraph;
import io.github.iree4j.flight.Replay;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.ContextConfiguration;

/** A recording of four threads that called a program on the CPU. */
@IreeTest(recording = "classpath:under-load.iree4j")
@ContextConfiguration(classes = IreeTestTests.Application.class)
@Timeout(300)
class RecordingTests {

    @Test
    void schedulerDecidesAsItDid(@Autowired Replay replay) {
        assertThat(replay.differences()).isEmpty();
        assertThat(replay.frontiers()).isGreaterThan(100);
    }

    @Test
    void criticalPathIsThere(@Autowired OperationGraph graph) {
        assertThat(CriticalPath.of(graph).steps()).isNotEmpty();
    }
}
