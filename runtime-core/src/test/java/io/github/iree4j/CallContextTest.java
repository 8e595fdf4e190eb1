package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.module.Export;
import io.github.iree4j.module.IreeModule;
import io.github.iree4j.module.JavaModule;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The context of a caller's thread goes with its call, whichever thread runs the call. */
class CallContextTest {
    private static final float[] FOUR = {1, 2, 3, 4};

    private final ThreadLocal<@Nullable Object> trace = new ThreadLocal<>();
    private final Seen seen = new Seen();

    /** Notes the caller. */
    @IreeModule("custom")
    static final class Seen {
        private final List<Object> contexts = new CopyOnWriteArrayList<>();
        private final List<Thread> threads = new CopyOnWriteArrayList<>();

        @Export("twice")
        int twice(int value) {
            contexts.add(Objects.requireNonNullElse(
                    Objects.requireNonNull(MemoryHolder.current()).context(), "none"));
            threads.add(Thread.currentThread());
            return 2 * value;
        }

        @Export("double")
        Tensor same(Tensor value) {
            return value;
        }
    }

    private static SchedulingDomain domain() {
        return SchedulingDomain.create(AxisAllocator.ofProcess(), FrontierTracker.create(), Frontier.DEFAULT_CAPACITY);
    }

    private void call(SchedulingDomain domain, boolean asynchronous) {
        try (IreeRuntime runtime = IreeRuntime.builder()
                        .device(
                                "cpu",
                                "local",
                                DeviceOptions.builder().schedulingDomain(domain).build())
                        .build();
                Program program = runtime.load(ProgramOptions.builder()
                        .module(JavaModule.of(seen))
                        .module(Fixtures.file("3.13.0/cpu/consumer.vmfb"))
                        .build());
                Results results = asynchronous
                        ? program.function("main").invokeAsync(4, FOUR).join()
                        : program.function("main").invoke(4, FOUR)) {
            assertThat(results.intValue(0)).isEqualTo(8);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCallHasTheContextOfItsMakersThread(boolean asynchronous) {
        SchedulingDomain domain = domain();
        domain.contexts(trace::get);
        trace.set("span 1");
        call(domain, asynchronous);
        trace.remove();
        call(domain, asynchronous);
        assertThat(seen.contexts).containsExactly("span 1", "none");
        assertThat(seen.threads).allMatch(thread -> thread.equals(Thread.currentThread()) != asynchronous);
    }

    @Test
    void anUntracedDomainHasNoContext() {
        call(domain(), true);
        assertThat(seen.contexts).containsExactly("none");
    }
}
