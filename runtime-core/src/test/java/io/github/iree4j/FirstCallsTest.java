package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmModule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Inputs without a hint of a call's need: each of many programs is called for the first time while others are, and none
 * fails.
 */
@Timeout(60)
class FirstCallsTest {
    private static final long HALF = 1 << 20;
    private static final int CALLERS = 14;

    enum Way {
        BLOCKING,
        ASYNC,
        BETWEEN_FENCES
    }

    static Stream<Arguments> cells() {
        return Stream.of(Way.values())
                .flatMap(way -> DoubleStream.of(1.05, 1.5, 2.1, 3, 6).mapToObj(budget -> Arguments.of(way, budget)));
    }

    /** Allocates half of the need, copies that half to the other, and frees both. */
    private static VmModule module(AtomicReference<IreeRuntime> runtime) {
        return NativeModule.builder("twice", 1, Object::new)
                .function("twice", "0Irr_v", (_, call) -> {
                    long half = call.i64();
                    Fence wait = call.ref(Fence.class);
                    Fence signal = call.required(Fence.class);
                    twice(runtime.get().device(), half, wait, signal);
                })
                .attribute("iree.abi.model", "coarse-fences")
                .build();
    }

    private static void twice(Device device, long half, Fence wait, Fence signal) {
        DeviceQueue queue = device.queue(0);
        try (TimelineSemaphore steps = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence first = Fence.at(steps, 1);
                Fence filled = Fence.at(steps, 2);
                Fence second = Fence.at(steps, 3);
                Fence copied = Fence.at(steps, 4);
                Fence freed = Fence.at(steps, 5);
                Buffer source = queue.alloca(wait, first, BufferParams.DEFAULT, half, 0)) {
            queue.fill(first, filled, source, 0, half, 5, 1, 0);
            try (Buffer target = queue.alloca(filled, second, BufferParams.DEFAULT, half, 0)) {
                queue.copy(second, copied, source, 0, target, 0, half, 0);
                queue.dealloca(copied, freed, source, 0);
                queue.dealloca(freed, signal, target, 0);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("cells")
    void eachFirstCallIsAnswered(Way way, double budget) throws Exception {
        DeviceOptions options = DeviceOptions.builder()
                .memoryLimit((long) (budget * 2 * HALF))
                .memoryWait(Duration.ofMinutes(5))
                .memoryHostWait(Duration.ofMinutes(5))
                .build();
        AtomicReference<IreeRuntime> opened = new AtomicReference<>();
        Queue<Throwable> wrong = new ConcurrentLinkedQueue<>();
        try (IreeRuntime runtime =
                IreeRuntime.builder().device("local", "local://", options).build()) {
            opened.set(runtime);
            List<ProgramFunction> functions = new ArrayList<>();
            CyclicBarrier start = new CyclicBarrier(CALLERS);
            List<Thread> callers = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                functions.add(runtime.load(ProgramOptions.builder()
                                .module(module(opened))
                                .overlappingCalls(true)
                                .build())
                        .function("twice"));
            }
            for (int i = 0; i < CALLERS; i++) {
                int caller = i;
                callers.add(Thread.ofPlatform().start(() -> {
                    try {
                        start.await();
                        for (int call = 0; call < CALLERS && wrong.isEmpty(); call++) {
                            call(runtime, way, functions.get((caller + call) % CALLERS));
                        }
                    } catch (Throwable e) {
                        wrong.add(e);
                    }
                }));
            }
            for (Thread caller : callers) {
                caller.join();
            }
            assertThat(wrong).isEmpty();
        }
    }

    private static void call(IreeRuntime runtime, Way way, ProgramFunction function) {
        switch (way) {
            case BLOCKING -> function.invoke(HALF).close();
            case ASYNC -> function.invokeAsync(HALF).join().close();
            case BETWEEN_FENCES -> {
                try (Timeline timeline = runtime.createTimeline();
                        Fence after = timeline.at(1);
                        Fence done = timeline.at(2)) {
                    function.call(CallOptions.DEFAULTS.after(after).signal(done), HALF);
                    after.signal();
                    timeline.await(2);
                }
            }
        }
    }
}
