package io.github.iree4j.vm.bytecode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmWait;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class YieldTest {
    /** A wait for a latch. */
    private record LatchWait(CountDownLatch latch) implements VmWait {
        @Override
        public boolean isReady() {
            return latch.getCount() == 0;
        }

        @Override
        public void whenReady(Runnable callback) {
            Thread.ofVirtual().start(() -> {
                try {
                    await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                callback.run();
            });
        }

        @Override
        public void await() throws InterruptedException {
            latch.await();
        }
    }

    private final CountDownLatch latch = new CountDownLatch(1);
    private final CountDownLatch reached = new CountDownLatch(1);
    private int entered;

    private final NativeModule host = NativeModule.builder("host", 0, () -> "")
            .function("wait", "0i_i", (s, c) -> {
                int value = c.i32();
                entered++;
                assertThat(c.resumed()).isEqualTo(entered > 1);
                if (latch.getCount() > 0) {
                    c.defer(new LatchWait(latch));
                    reached.countDown();
                } else {
                    c.returnI32(value + 1);
                }
            })
            .function("bad", "0v_i", (s, c) -> {
                c.returnI32(1);
                c.defer(VmWait.NONE);
            })
            .build();

    private static final String WAITING = """
            vm.import @host.wait cconv "0i_i"
            vm.export @f
            vm.func @f(%i0: i32) -> (i32) {
              %i1 = vm.const.i32 100
              vm.call.yieldable @m:1(%i0) -> ^bb1(%i0)
            ^bb1:
              %i0 = vm.add.i32 %i0, %i1
              vm.return %i0
            }
            vm.func @g(%i0: i32) -> (i32) {
              %i1 = vm.const.i32 10
              vm.call.yieldable @host.wait(%i0) -> ^bb1(%i0)
            ^bb1:
              %i0 = vm.add.i32 %i0, %i1
              vm.return %i0
            }
            """;

    @Test
    void startReturnsAtTheWaitAndResumeFinishes() {
        try (Programs.Running program = Programs.run(host, Programs.module("m", WAITING));
                Invocation call = program.call("m.f")) {
            assertThat(call.i32(1).start()).isFalse();
            assertThat(call.pendingWait().isReady()).isFalse();
            assertThat(call.resume()).as("resumed too early").isFalse();
            latch.countDown();
            assertThat(call.pendingWait().isReady()).isTrue();
            assertThat(call.resume()).isTrue();
            assertThat(call.i32()).isEqualTo(112);
            assertThat(entered).isEqualTo(3);
        }
    }

    @Test
    void runBlocksUntilTheWaitIsReady() throws Exception {
        try (Programs.Running program = Programs.run(host, Programs.module("m", WAITING));
                Invocation call = program.call("m.f")) {
            Thread other = Thread.ofPlatform().start(() -> {
                try {
                    reached.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                latch.countDown();
            });
            call.i32(1).run();
            assertThat(call.i32()).isEqualTo(112);
            other.join();
        }
    }

    @Test
    void interruptEndsTheWaitAndStaysSet() {
        try (Programs.Running program = Programs.run(host, Programs.module("m", WAITING));
                Invocation call = program.call("m.f")) {
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> call.i32(1).run())
                    .withMessageContaining("interrupted while 'm.f' was waiting")
                    .matches(e -> e.code() == StatusCode.CANCELLED);
            assertThat(Thread.interrupted()).isTrue();
            latch.countDown();
            entered = 0;
            call.i32(5).run();
            assertThat(call.i32()).isEqualTo(116);
        }
    }

    @Test
    void yieldGivesATurnInEveryFrame() {
        String text = """
                vm.export @f
                vm.func @f(%i0: i32) -> (i32) {
                  %i1 = vm.const.i32 1
                  vm.yield ^bb1(%i0->%i2)
                ^bb1:
                  vm.call.yieldable @m:1(%i2) -> ^bb2(%i0)
                ^bb2:
                  %i0 = vm.add.i32 %i0, %i1
                  vm.return %i0
                }
                vm.func @g(%i0: i32) -> (i32) {
                  vm.yield ^bb1()
                ^bb1:
                  %i1 = vm.const.i32 40
                  %i0 = vm.add.i32 %i0, %i1
                  vm.return %i0
                }
                """;
        try (Programs.Running program = Programs.run(Programs.module("m", text));
                Invocation call = program.call("m.f")) {
            assertThat(call.i32(1).start()).isFalse();
            assertThat(call.pendingWait().isReady()).isTrue();
            assertThat(call.resume()).isFalse();
            assertThat(call.resume()).isTrue();
            assertThat(call.i32()).isEqualTo(42);
        }
    }

    @Test
    void functionOfAnotherModuleYieldsAsWell() {
        String inner =
                "vm.export @g\nvm.func @g() -> (i32) {\n  vm.yield ^bb1()\n^bb1:\n  %i0 = vm.const.i32 5\n  vm.return %i0\n}\n";
        String outer = """
                vm.import @inner.g cconv "0v_i"
                vm.export @f
                vm.func @f() -> (i32) {
                  vm.call.yieldable @inner.g() -> ^bb1(%i1)
                ^bb1:
                  vm.return %i1
                }
                """;
        try (Programs.Running program = Programs.run(Programs.module("inner", inner), Programs.module("outer", outer));
                Invocation call = program.call("outer.f")) {
            assertThat(call.start()).isFalse();
            assertThat(call.resume()).isTrue();
            assertThat(call.i32()).isEqualTo(5);
        }
    }

    @Test
    void importWaitingInAnOrdinaryCallWaitsThere() {
        String text = """
                vm.import @host.wait cconv "0i_i"
                vm.export @f
                vm.func @f(%i0: i32) -> (i32) {
                  %i0 = vm.call @host.wait(%i0)
                  vm.return %i0
                }
                """;
        try (Programs.Running program = Programs.run(host, Programs.module("m", text));
                Invocation call = program.call("m.f")) {
            assertThat(call.i32(1).start()).isFalse();
            latch.countDown();
            assertThat(call.resume()).isTrue();
            assertThat(call.i32()).isEqualTo(2);
        }
    }

    @Test
    void waitingCallTakesNeitherArgumentsNorAnotherStart() {
        try (Programs.Running program = Programs.run(host, Programs.module("m", WAITING));
                Invocation call = program.call("m.f")) {
            call.i32(1).start();
            for (Runnable use : java.util.List.<Runnable>of(call::start, () -> call.i32(1), () -> call.i32())) {
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(use::run)
                        .withMessageContaining("while it is in phase DEFERRED")
                        .matches(e -> e.code() == StatusCode.FAILED_PRECONDITION);
            }
            latch.countDown();
            assertThat(call.resume()).isTrue();
            assertThatExceptionOfType(IreeException.class).isThrownBy(call::resume);
            assertThat(call.i32()).isEqualTo(112);
        }
    }

    @Test
    void functionSettingResultsAndDeferringIsReported() {
        String text =
                "vm.import @host.bad cconv \"0v_i\"\nvm.export @f\nvm.func @f() -> () {\n  %i0 = vm.call @host.bad()\n  vm.return\n}\n";
        try (Programs.Running program = Programs.run(host, Programs.module("m", text));
                Invocation call = program.call("m.f")) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(call::run)
                    .withMessageContaining("'host.bad' deferred after setting results")
                    .matches(e -> e.code() == StatusCode.INTERNAL);
        }
    }
}
