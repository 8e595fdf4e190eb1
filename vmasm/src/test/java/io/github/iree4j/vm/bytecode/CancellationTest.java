package io.github.iree4j.vm.bytecode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmWait;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

// VM-1: an endless loop or recursion can be cancelled.
@Timeout(300)
class CancellationTest {
    private static final String STARTED = "vm.import @host.started cconv \"0v_v\"\n";

    /** Reports its call. */
    private final CountDownLatch started = new CountDownLatch(1);

    private final NativeModule host = NativeModule.builder("host", 1, () -> "")
            .function("started", "0v_v", (s, c) -> started.countDown())
            .build();

    @ParameterizedTest
    @ValueSource(
            strings = {
                // a jump to itself
                "^bb1:\n  vm.br ^bb1()\n}\n",
                // a conditional jump
                "^bb1:\n  vm.cond_br %i0, ^bb2(), ^bb1()\n^bb2:\n  vm.return\n}\n",
                // a comparison and a jump together
                "^bb1:\n  %i0 = vm.cmp.eq.i32 %i0, %i0\n  vm.cond_br %i0, ^bb1(), ^bb2()\n^bb2:\n  vm.return\n}\n",
                // loads and stores between the jumps
                "^bb1:\n  %i2:3 = vm.const.i64 8\n  %i4 = vm.const.i32 16\n  %r0 = vm.buffer.alloc %i2:3, %i4\n"
                        + "  %i2:3 = vm.const.i64 0\n  vm.br ^bb2()\n^bb2:\n  %i4 = vm.buffer.load.i32 %r0, %i2:3\n"
                        + "  vm.br ^bb2()\n}\n",
                // a table
                "^bb1:\n  vm.br_table %i0 { default: ^bb1(), 0: ^bb1(), 1: ^bb2() }\n^bb2:\n  vm.return\n}\n",
                // a call that resumes at its place
                "^bb1:\n  vm.call.yieldable @host.started() -> ^bb1()\n}\n",
                // yielding
                "^bb1:\n  vm.yield ^bb1()\n}\n",
                // recursion with an end after 2^4000 calls
                "^bb1:\n  vm.call @m:1(%i1)\n  vm.return\n}\n"
                        + "vm.func @deep(%i0: i32) -> () {\n^bb0:\n  %i1 = vm.const.i32 1\n  %i1 = vm.add.i32 %i0, %i1\n"
                        + "  %i2 = vm.const.i32 4000\n  %i2 = vm.cmp.lt.i32.s %i1, %i2\n"
                        + "  vm.cond_br %i2, ^bb1(), ^bb2()\n^bb1:\n  vm.call @m:1(%i1)\n  vm.call @m:1(%i1)\n  vm.return\n"
                        + "^bb2:\n  vm.return\n}\n"
            })
    void endlessProgramStopsWhenCancelledFromAnotherThread(String rest) throws Exception {
        String text = STARTED
                + "vm.export @f\nvm.func @f() -> () {\n^bb0:\n  %i0 = vm.const.i32.zero\n  %i1 = vm.const.i32.zero\n"
                + "  vm.call @host.started()\n  vm.br ^bb1()\n" + rest;
        try (Programs.Running program = Programs.run(host, Programs.module("m", text));
                Invocation call = program.call("m.f")) {
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            Thread runner = Thread.ofPlatform().start(() -> {
                try {
                    call.run();
                } catch (IreeException e) {
                    thrown.set(e);
                }
            });
            assertThat(started.await(30, TimeUnit.SECONDS)).isTrue();
            call.cancel();
            runner.join(30_000);
            assertThat(runner.isAlive()).isFalse();
            assertThat(thrown.get())
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.CANCELLED))
                    .hasMessageContaining("call of 'm.f' was cancelled");
        }
    }

    @ParameterizedTest
    @EnumSource(Compilation.class)
    void endlessProgramStopsWithItsThreadsInterruptOrWhenUnwanted(Compilation compilation) throws Exception {
        String text = STARTED
                + "vm.export @f\nvm.func @f() -> () {\n^bb0:\n  vm.call @host.started()\n  vm.br ^bb1()\n"
                + "^bb1:\n  vm.br ^bb1()\n}\n";
        Programs.compile(compilation);
        try (Programs.Running program = Programs.run(host, Programs.module("m", text));
                Invocation interrupted = program.call("m.f");
                Invocation unwanted = program.call("m.f")) {
            AtomicBoolean over = new AtomicBoolean();
            interrupted.endsWhenInterrupted(true);
            unwanted.endsWhen(over::get);
            List<StatusCode> ends = new ArrayList<>();
            Thread runner = Thread.ofPlatform().start(() -> {
                for (Invocation each : List.of(interrupted, unwanted)) {
                    try {
                        each.run();
                    } catch (IreeException e) {
                        ends.add(e.code());
                    }
                }
            });
            assertThat(started.await(30, TimeUnit.SECONDS)).isTrue();
            runner.interrupt();
            over.set(true);
            runner.join(30_000);
            assertThat(runner.isAlive()).isFalse();
            assertThat(ends).containsExactly(StatusCode.CANCELLED, StatusCode.CANCELLED);
        } finally {
            Programs.compile(Compilation.byDefault());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"vm.br ^bb1()", "vm.yield ^bb1()"})
    void endlessInitStopsWhenItsThreadIsInterrupted(String loop) throws Exception {
        String text = STARTED
                + "vm.export @__init\nvm.func @__init() -> () {\n^bb0:\n  vm.call @host.started()\n  vm.br ^bb1()\n^bb1:\n  "
                + loop + "\n}\n";
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread creator = Thread.ofPlatform().start(() -> {
            try {
                Programs.run(host, Programs.module("m", text)).close();
            } catch (IreeException e) {
                thrown.set(e);
            }
        });
        assertThat(started.await(30, TimeUnit.SECONDS)).isTrue();
        creator.interrupt();
        creator.join(30_000);
        assertThat(creator.isAlive()).isFalse();
        assertThat(thrown.get())
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.CANCELLED));
    }

    // VM-2: a call cancelled while blocked, or about to block, returns.
    @Test
    void aBlockedCallReturnsWhenCancelledInAnyInterleaving() throws Exception {
        VmWait never = new VmWait() {
            @Override
            public boolean isReady() {
                return false;
            }

            @Override
            public void whenReady(Runnable callback) {}

            @Override
            public void await() {
                throw new UnsupportedOperationException();
            }
        };
        CyclicBarrier barrier = new CyclicBarrier(2);
        NativeModule waiting = NativeModule.builder("waiting", 0, () -> "")
                .function("forever", "0v_v", (s, c) -> {
                    try {
                        barrier.await(30, TimeUnit.SECONDS);
                    } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
                        throw new IllegalStateException(e);
                    }
                    c.defer(never);
                })
                .build();
        try (Programs.Running program = Programs.run(waiting);
                Invocation call = program.call("waiting.forever")) {
            for (int round = 0; round < 2000; round++) {
                Thread canceller = Thread.ofVirtual().start(() -> {
                    try {
                        barrier.await(30, TimeUnit.SECONDS);
                    } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
                        throw new IllegalStateException(e);
                    }
                    call.cancel();
                });
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(call::run)
                        .matches(e -> e.code() == StatusCode.CANCELLED);
                canceller.join();
                call.reset();
            }
        }
    }

    @Test
    void cancelledCallRunsAgainAfterReset() {
        String text = "vm.export @f\nvm.func @f() -> (i32) {\n^bb0:\n  %i0 = vm.const.i32 7\n  vm.return %i0\n}\n";
        try (Programs.Running program = Programs.run(Programs.module("m", text));
                Invocation call = program.call("m.f")) {
            call.cancel();
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(call::run)
                    .matches(e -> e.code() == StatusCode.CANCELLED);
            call.reset();
            call.run();
            assertThat(call.i32()).isEqualTo(7);
        }
    }
}
