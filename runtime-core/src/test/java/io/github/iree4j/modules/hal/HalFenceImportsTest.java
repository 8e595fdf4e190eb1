package io.github.iree4j.modules.hal;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.hal.pool.OwnWork;
import io.github.iree4j.modules.ModuleCalls;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmWait;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Fences as seen by programs. */
class HalFenceImportsTest {
    private static final String AWAIT = "0iICrD_i";

    private final HalFixture hal = new HalFixture();

    @AfterEach
    void nothingIsLeft() {
        hal.close();
    }

    @Test
    void fencesAreReachedOnceSignalled() {
        Fence fence = hal.fence();
        assertThat(query(fence)).isEqualTo(17);
        hal.call("fence.signal", "0r_v", fence);
        assertThat(query(fence)).isZero();
        hal.failure(StatusCode.INVALID_ARGUMENT, "fence.signal", "0r_v", fence);
    }

    /** Otherwise a program asking until the fence is reached would ask for ever. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aLookAtAFenceHandsOnTheWorkLeftToTheThreadOfTheCall(boolean waits) {
        List<String> done = new ArrayList<>();
        MemoryHolder call = new MemoryHolder("call", new OperationsUnderWay());
        call.calledHere(true);
        MemoryHolder before = call.enter();
        call.takesOn(new OwnWork() {
            @Override
            public void run() {
                done.add("run");
            }

            @Override
            public void handOn() {
                done.add("handed on");
            }
        });
        if (waits) {
            assertThat(hal.<Integer>one("fence.await", AWAIT, 0, 0L, List.of(List.of(hal.fence()))))
                    .isEqualTo(StatusCode.DEADLINE_EXCEEDED.number());
        } else {
            query(hal.fence());
        }
        call.leave(before);
        call.doOwnWork();
        assertThat(done).containsExactly("handed on");
        call.end();
    }

    private int query(Fence fence) {
        return hal.<Integer>one("fence.query", "0r_i", fence);
    }

    @Test
    void failuresKeepTheirCode() {
        Fence fence = hal.fence();
        hal.call("fence.fail", "0ri_v", fence, 0x20 | StatusCode.DATA_LOSS.number());
        assertThat(query(fence)).isEqualTo(StatusCode.DATA_LOSS.number());
        hal.failure(StatusCode.DATA_LOSS, "fence.await", AWAIT, -1, 0L, List.of(List.of(fence)));
        hal.failure(StatusCode.INVALID_ARGUMENT, "fence.fail", "0ri_v", fence, 0);
    }

    @Test
    void joinsAreReachedWhenAllAre() {
        Fence first = hal.fence();
        Fence second = hal.fence();
        Fence joined = hal.one(
                "fence.join", "0ICrD_r", 0L, List.of(List.of(first), List.of(ModuleCalls.NULL), List.of(second)));
        hal.call("fence.signal", "0r_v", first);
        assertThat(query(joined)).isEqualTo(17);
        hal.call("fence.signal", "0r_v", second);
        assertThat(query(joined)).isZero();
    }

    @Test
    void joinsOfNothingAreNull() {
        assertThat(hal.<Object>one("fence.join", "0ICrD_r", 0L, List.of())).isNull();
        assertThat(hal.<Object>one("fence.join", "0ICrD_r", 0L, List.of(List.of(ModuleCalls.NULL))))
                .isNull();
    }

    @Test
    void awaitingAReachedFenceReturnsAtOnce() {
        Fence fence = hal.fence();
        fence.signal();
        assertThat(await(-1, fence)).isZero();
        assertThat(await(-1)).isZero();
        assertThat(await(-1, ModuleCalls.NULL)).isZero();
        assertThat(await(-1, ModuleCalls.NULL, fence)).isZero();
    }

    private int await(int timeoutMillis, Object... fences) {
        List<List<Object>> span = java.util.Arrays.stream(fences).map(List::of).toList();
        return hal.<Integer>one("fence.await", AWAIT, timeoutMillis, 0L, span);
    }

    @Test
    void aTimeoutIsAValueNotAFailure() {
        Fence fence = hal.fence();
        assertThat(await(0, fence)).isEqualTo(StatusCode.DEADLINE_EXCEEDED.number());
        assertThat(await(1, fence)).isEqualTo(StatusCode.DEADLINE_EXCEEDED.number());
        assertThat(await(1, fence, hal.fence())).isEqualTo(StatusCode.DEADLINE_EXCEEDED.number());
    }

    @Test
    void aWaitSuspendsTheCallUntilAllAreReached() {
        Fence first = hal.fence();
        Fence second = hal.fence();
        suspended(-1, List.of(first, second), call -> {
            VmWait wait = call.pendingWait();
            AtomicInteger calls = new AtomicInteger();
            wait.whenReady(calls::incrementAndGet);
            first.signal();
            assertThat(wait.isReady()).isFalse();
            assertThat(calls).hasValue(0);
            second.signal();
            assertThat(wait.isReady()).isTrue();
            assertThat(calls).hasValue(1);
            assertThat(call.resume()).isTrue();
            assertThat(call.i32()).isZero();
        });
    }

    @Test
    void aSuspendedWaitEndsWithTheFirstFailure() {
        Fence first = hal.fence();
        Fence second = hal.fence();
        suspended(-1, List.of(first, second), call -> {
            AtomicInteger calls = new AtomicInteger();
            call.pendingWait().whenReady(calls::incrementAndGet);
            second.fail(IreeException.of(StatusCode.ABORTED, "device 'x' is lost"));
            assertThat(calls).hasValue(1);
            IreeException failure =
                    org.assertj.core.api.Assertions.catchThrowableOfType(IreeException.class, call::resume);
            assertThat(failure.code()).isEqualTo(StatusCode.ABORTED);
            assertThat(failure).hasMessageContaining("device 'x' is lost");
        });
    }

    @Test
    void aSuspendedWaitEndsAtItsTimeout() throws InterruptedException {
        Fence fence = hal.fence();
        suspended(5, List.of(fence), call -> {
            try {
                call.pendingWait().await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            assertThat(call.resume()).isTrue();
            assertThat(call.i32()).isEqualTo(StatusCode.DEADLINE_EXCEEDED.number());
        });
    }

    @Test
    void aSignalFromAnotherThreadEndsABlockingCall() {
        Fence fence = hal.fence();
        Thread signaller = Thread.ofVirtual().start(fence::signal);
        assertThat(await(-1, fence)).isZero();
        assertThat(signaller).isNotNull();
    }

    private void suspended(int timeoutMillis, List<Fence> fences, Consumer<Invocation> test) {
        try (Context context = Context.create(List.of(hal.module), ContextOptions.DEFAULTS);
                Invocation call = context.invocation(hal.module.resolve("fence.await", AWAIT))) {
            call.i32(timeoutMillis).i64(0).span(fences.size());
            fences.forEach(call::ref);
            assertThat(call.start()).as("done at once").isFalse();
            test.accept(call);
        }
    }
}
