package io.github.iree4j.vm.bytecode;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** A module is shared by contexts on different threads. */
class SharingTest {
    @Test
    void contextsOfAModuleRunOnManyThreadsAtOnce() throws Exception {
        String text = """
                vm.rodata[0] = 0500000007000000
                vm.global.i64 mutable @sum
                vm.export @add
                vm.func @add(%i0: i32) -> (i64) {
                  %r0 = vm.const.ref.rodata 0
                  %i2:3 = vm.const.i64 1
                  %i1 = vm.buffer.load.i32 %r0, %i2:3
                  %i0 = vm.call @m:1(%i0, %i1)
                  %i4:5 = vm.ext.i32.i64.s %i0
                  %i2:3 = vm.global.load.i64 @sum
                  %i2:3 = vm.add.i64 %i2:3, %i4:5
                  vm.global.store.i64 %i2:3, @sum
                  vm.return %i2:3
                }
                vm.func @mul(%i0: i32, %i1: i32) -> (i32) {
                  %i0 = vm.mul.i32 %i0, %i1
                  vm.return %i0
                }
                """;
        try (BytecodeModule module = Programs.module("m", text);
                ExecutorService threads = Executors.newFixedThreadPool(4)) {
            Callable<Long> work = () -> {
                long last = 0;
                try (Context context = Context.create(List.of(module), ContextOptions.DEFAULTS);
                        Invocation call = context.invocation(Objects.requireNonNull(context.function("m.add")))) {
                    for (int i = 1; i <= 2000; i++) {
                        call.i32(i).run();
                        last = call.i64();
                    }
                }
                return last;
            };
            List<Future<Long>> results = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                results.add(threads.submit(work));
            }
            for (Future<Long> result : results) {
                assertThat(result.get()).isEqualTo(7L * 2000 * 2001 / 2);
            }
        }
    }
}
