package io.github.iree4j.vm.asm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.CallTracer;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.VmWait;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CallTracerTest {
    private static final String SOURCE = """
            vm.module @m
            vm.import @j.sum cconv "0iCID_I"
            vm.import @j.pairs cconv "0CiFD_F"
            vm.import @j.waits cconv "0i_i"
            vm.import @j.fails cconv "0v_v"
            vm.export @spans
            vm.export @waits
            vm.export @fails
            vm.func @spans(%i0: i32, %i2:3: i64, %i4: f32, %i6:7: f64) -> (f64, f32) {
            ^bb0:
              %i8:9 = vm.call.variadic @j.sum segments[65535, 2](%i0, %i2:3, %i2:3)
              %i10:11 = vm.call.variadic @j.pairs segments[2](%i0, %i6:7, %i0, %i6:7)
              vm.return %i10:11, %i4
            }
            vm.func @waits(%i0: i32) -> (i32) {
            ^bb0:
              %i0 = vm.call @j.waits(%i0)
              vm.return %i0
            }
            vm.func @fails() -> () {
            ^bb0:
              vm.call @inner()
              vm.return
            }
            vm.func @inner() -> () {
            ^bb0:
              vm.call @j.fails()
              vm.return
            }
            """;

    private final List<String> heard = new ArrayList<>();

    private final CallTracer tracer = new CallTracer() {
        @Override
        public void entered(int depth, String function, List<?> arguments) {
            heard.add(depth + " " + function + arguments);
        }

        @Override
        public void returned(int depth, String function, List<?> results) {
            heard.add(depth + " " + function + " -> " + results);
        }

        @Override
        public void deferred(int depth, String function) {
            heard.add(depth + " " + function + " waits");
        }

        @Override
        public void resumed(int depth, String function) {
            heard.add(depth + " " + function + " goes on");
        }

        @Override
        public void failed(int depth, String function, IreeException failure) {
            heard.add(depth + " " + function + " fails with " + failure.code());
        }
    };

    private static NativeModule java() {
        return NativeModule.builder("j", 0, Object::new)
                .function("sum", "0iCID_I", (_, call) -> {
                    long sum = call.i32();
                    for (int i = call.spanCount(); i > 0; i--) {
                        sum += call.i64();
                    }
                    call.returnI64(sum);
                })
                .function("pairs", "0CiFD_F", (_, call) -> {
                    double sum = 0;
                    for (int i = call.spanCount(); i > 0; i--) {
                        sum += call.i32() * call.f64();
                    }
                    call.returnF64(sum);
                })
                .function("waits", "0i_i", (_, call) -> {
                    if (call.resumed()) {
                        call.returnI32(call.i32() + 1);
                    } else {
                        call.defer(VmWait.NONE);
                    }
                })
                .function("fails", "0v_v", (_, _) -> {
                    throw IreeException.of(StatusCode.DATA_LOSS, "lost");
                })
                .build();
    }

    private void run(String function, Call call) {
        byte[] module = VmAssembler.assemble(SOURCE, Path.of("."));
        try (BytecodeModule traced = BytecodeModule.readTraced(
                        MemorySegment.ofArray(module), "m", VmTypes.standard(), ModuleLimits.DEFAULTS, null, tracer);
                Context context = Context.create(List.of(java(), traced), ContextOptions.DEFAULTS);
                Invocation invocation = context.invocation(context.function("m." + function))) {
            call.with(invocation);
        }
    }

    private interface Call {
        void with(Invocation invocation);
    }

    @Test
    void reportsValuesOfAllTypesAndSpans() {
        run("spans", invocation -> {
            invocation.i32(3);
            invocation.i64(1L << 40);
            invocation.f32(0.5f);
            invocation.f64(2.25);
            invocation.run();
            assertThat(invocation.f64()).isEqualTo(13.5);
            assertThat(invocation.f32()).isEqualTo(0.5f);
        });
        assertThat(heard)
                .containsExactly(
                        "1 m.spans[3, 1099511627776, 0.5, 2.25]",
                        "2 j.sum[3, [1099511627776, 1099511627776]]",
                        "2 j.sum -> [2199023255555]",
                        "2 j.pairs[[[3, 2.25], [3, 2.25]]]",
                        "2 j.pairs -> [13.5]",
                        "1 m.spans -> [13.5, 0.5]");
    }

    @Test
    void reportsWhenAnImportDefersAndResumes() {
        run("waits", invocation -> {
            invocation.i32(7);
            invocation.run();
            assertThat(invocation.i32()).isEqualTo(8);
        });
        assertThat(heard)
                .containsExactly(
                        "1 m.waits[7]",
                        "2 j.waits[7]",
                        "2 j.waits waits",
                        "2 j.waits goes on",
                        "2 j.waits -> [8]",
                        "1 m.waits -> [8]");
    }

    @Test
    void reportsHowAFailureUnwinds() {
        run(
                "fails",
                invocation -> assertThatThrownBy(invocation::run)
                        .hasMessageContaining("lost")
                        .hasMessageContaining("@m.fails"));
        assertThat(heard)
                .containsExactly(
                        "1 m.fails[]",
                        "2 m.#3[]",
                        "3 j.fails[]",
                        "3 j.fails fails with DATA_LOSS",
                        "2 m.#3 fails with DATA_LOSS",
                        "1 m.fails fails with DATA_LOSS");
    }
}
