package io.github.iree4j.module;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.asm.VmAssembler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Java modules with calls of functions of earlier modules, and of the calling program. */
class CallbackTest {
    private final IreeRuntime runtime = IreeRuntime.create();

    @AfterEach
    void close() {
        runtime.close();
        assertThat(runtime.device().allocator().statistics().bytesLive())
                .as("bytes of tensors still allocated")
                .isZero();
    }

    private static final String MODEL = """
            vm.module @model version 0
            vm.type !hal.buffer_view
            vm.export @scale
            vm.export @divide
            vm.export @same
            vm.func @scale(%i0: f32) -> (f32) {
            ^bb0:
              %i1 = vm.const.f32 3
              %i0 = vm.mul.f32 %i0, %i1
              vm.return %i0
            }
            vm.func @divide(%i0: i32, %i1: i32) -> (i32, i32) {
            ^bb0:
              %i2 = vm.div.i32.s %i0, %i1
              %i3 = vm.rem.i32.s %i0, %i1
              vm.return %i2, %i3
            }
            vm.func @same(%r0: !hal.buffer_view) -> (!hal.buffer_view) {
            ^bb0:
              vm.return %R0
            }
            """;

    private static final String MAIN = """
            vm.module @main version 0
            vm.type !hal.buffer_view
            vm.type !hal.fence
            vm.import @host.run cconv "0f_f"
            vm.import @host.split cconv "0ii_i"
            vm.import @host.tensor cconv "0r_r"
            vm.import @host.factorial cconv "0I_I"
            vm.import @host.spin cconv "0v_v"
            vm.export @run
            vm.export @split
            vm.export @tensor
            vm.export @factorial
            vm.export @spin
            vm.export @loop
            vm.func @run(%i0: f32) -> (f32) {
            ^bb0:
              %i0 = vm.call @host.run(%i0)
              vm.return %i0
            }
            vm.func @split(%i0: i32, %i1: i32) -> (i32) {
            ^bb0:
              %i0 = vm.call @host.split(%i0, %i1)
              vm.return %i0
            }
            vm.func @tensor(%r0: !hal.buffer_view) -> (!hal.buffer_view) {
            ^bb0:
              %r0 = vm.call @host.tensor(%R0)
              vm.return %R0
            }
            vm.func @factorial(%i0:1: i64) -> (i64) {
            ^bb0:
              %i2 = vm.cmp.nz.i64 %i0:1
              vm.cond_br %i2, ^more(), ^one()
            ^one:
              %i0:1 = vm.const.i64 1
              vm.return %i0:1
            ^more:
              %i0:1 = vm.call @host.factorial(%i0:1)
              vm.return %i0:1
            }
            vm.func @spin() -> () {
            ^bb0:
              vm.call @host.spin()
              vm.return
            }
            vm.func @loop() -> () {
            ^bb0:
              vm.br ^bb0()
            }
            """;

    record Division(int quotient, int remainder) {}

    interface Model {
        @Import("model.scale")
        float scale(float value);

        @Import("model.divide")
        Division divide(int a, int b);

        @Import("model.same")
        Tensor same(Tensor tensor);

        @Import("model.bias")
        default float bias(float value) {
            return value + 0.5f;
        }
    }

    interface Caller {
        @Import(value = "main.factorial", late = true)
        long factorial(long n);

        @Import(value = "main.loop", late = true)
        void loop();
    }

    @IreeModule("host")
    static final class Host {
        final CountDownLatch spinning = new CountDownLatch(1);
        final List<Model> seen = new ArrayList<>();

        @Export
        float run(Model model, float value) {
            seen.add(model);
            return model.bias(model.scale(value));
        }

        @Export
        int split(int a, int b, Model model) {
            Division division = model.divide(a, b);
            return 100 * division.quotient() + division.remainder();
        }

        @Export
        Tensor tensor(Model model, Tensor tensor) {
            return model.same(model.same(tensor));
        }

        @Export
        long factorial(Caller caller, long n) {
            return n * caller.factorial(n - 1);
        }

        @Export
        void spin(Caller caller) {
            spinning.countDown();
            caller.loop();
        }
    }

    private Program load(JavaModule module) {
        return runtime.load(ProgramOptions.builder()
                .module("model", VmAssembler.assemble(MODEL))
                .module(module)
                .module("main", VmAssembler.assemble(MAIN))
                .build());
    }

    @Test
    void aMethodCallsFunctionsOfAnEarlierModule() {
        try (Program program = load(JavaModule.of(new Host()));
                Results results = program.function("run").invoke(2f)) {
            assertThat(results.floatValue(0)).isEqualTo(6.5f);
        }
    }

    @Test
    void severalResultsAreReturnedAsARecord() {
        try (Program program = load(JavaModule.of(new Host()));
                Results results = program.function("split").invoke(17, 5)) {
            assertThat(results.intValue(0)).isEqualTo(302);
        }
    }

    @Test
    void aFailureOfACalledFunctionPropagatesThroughTheMethod() {
        try (Program program = load(JavaModule.of(new Host()))) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("split").invoke(17, 0))
                    .withMessageContaining("model.divide")
                    .withMessageContaining("'host.split' (int Host.split(int, int, Model))");
        }
    }

    @Test
    void tensorsPassThroughNestedCallsWithoutLeaks() {
        try (Program program = load(JavaModule.of(new Host()));
                Results results = program.function("tensor").invoke(Tensor.of(new float[] {1, 2}))) {
            assertThat(results.tensor(0)).hasToString("2xf32=1 2");
        }
    }

    @Test
    void aMethodCallsBackItsCallingProgram() {
        try (Program program = load(JavaModule.of(new Host()));
                Results results = program.function("factorial").invoke(20L)) {
            assertThat(results.longValue(0)).isEqualTo(2432902008176640000L);
        }
    }

    @Test
    void nestingOfCallsIsLimited() {
        try (Program program = load(JavaModule.of(new Host()))) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("factorial").invoke(65L))
                    .withMessageContaining("within 64 other calls of module 'host'")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
            try (Results results = program.function("factorial").invoke(64L)) { // wraps around
                assertThat(results.longValue(0)).isEqualTo(Long.MIN_VALUE);
            }
        }
    }

    @Test
    void cancellingACallCancelsTheCallsOfItsMethods() throws Exception { // VM-4
        Host host = new Host();
        try (Program program = load(JavaModule.of(host))) {
            CompletableFuture<Results> call = program.function("spin").invokeAsync();
            host.spinning.await();
            call.cancel(true);
            try (Results results = program.function("factorial").invoke(5L)) { // serialized, so after the other call
                assertThat(results.longValue(0)).isEqualTo(120);
            }
        }
    }

    @Test
    void functionsCannotBeCalledAfterTheMethodHasReturned() {
        Host host = new Host();
        try (Program program = load(JavaModule.of(host));
                Results results = program.function("run").invoke(2f)) {
            assertThat(results.size()).isEqualTo(1);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> host.seen.getFirst().scale(1))
                    .withMessageContaining("only while it is called itself");
        }
    }

    @Test
    void aMissingImportNamesBothModules() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> runtime.load(ProgramOptions.builder()
                        .module(JavaModule.of(new Host()))
                        .build()))
                .withMessageContaining("module 'host' imports 'model.divide' with convention '0ii_ii'")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.NOT_FOUND));
    }

    @Test
    void anImportOfAnotherConventionNamesBothModules() {
        String other = MODEL.replace("(%i0: f32) -> (f32)", "(%i0: f32) -> (f64)")
                .replace("vm.return %i0", "%i2:3 = vm.ext.f32.f64 %i0\n  vm.return %i2:3");
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> runtime.load(ProgramOptions.builder()
                        .module("model", VmAssembler.assemble(other))
                        .module(JavaModule.of(new Host()))
                        .build()))
                .withMessageContaining("module 'host' imports 'model.scale' with convention '0f_f'")
                .withMessageContaining("module 'model'")
                .withMessageContaining("'0f_F'");
    }

    // -- from applications

    interface Direct {
        float scale(float value);

        @Import("model.divide")
        Division split(int a, int b);

        @Import("model.same")
        float[] copy(float... values);

        @Import("model.same")
        CompletableFuture<Tensor> later(Tensor tensor);

        @Import("model.bias")
        default float bias(float value) {
            return value + 0.5f;
        }
    }

    @Test
    void anInterfaceIsBoundToTheFunctionsOfAProgram() throws Exception {
        try (Program program = load(JavaModule.of(new Host()))) {
            Direct model = program.bind(Direct.class);
            assertThat(model.scale(2)).isEqualTo(6);
            assertThat(model.split(17, 5)).isEqualTo(new Division(3, 2));
            assertThat(model.bias(1)).isEqualTo(1.5f);
            try (Tensor tensor = Tensor.of(new float[] {1, 2});
                    Tensor later = model.later(tensor).get()) {
                assertThat(later).hasToString("2xf32=1 2");
            }
        }
    }

    interface WrongCount {
        float scale();
    }

    interface WrongType {
        double scale(float value);
    }

    interface Absent {
        void nowhere();
    }

    @Test
    void aMismatchingInterfaceIsRefusedNamingBoth() {
        try (Program program = load(JavaModule.of(new Host()))) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.bind(WrongCount.class))
                    .withMessageContaining("'WrongCount.scale' does not fit 'model.scale'");
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.bind(WrongType.class))
                    .withMessageContaining("'WrongType.scale' does not fit 'model.scale'")
                    .withMessageContaining("double");
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.bind(Absent.class))
                    .withMessageContaining("'nowhere'")
                    .withMessageContaining("'Absent.nowhere'");
        }
    }
}
