package io.github.iree4j.vm.bytecode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmDependency;
import io.github.iree4j.vm.VmModule;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LinkingTest {
    private final List<String> events = new ArrayList<>();

    /** A module with recorded calls of its methods. */
    private NativeModule noting(String name, int version) {
        return NativeModule.builder(name, version, () -> new AutoCloseable() {
                    @Override
                    public void close() {
                        events.add("close " + name);
                    }
                })
                .function("note", "0i_v", (s, c) -> events.add(name + " " + c.i32()))
                .function("seven", "0v_i", (s, c) -> c.returnI32(7))
                .build();
    }

    private static BytecodeModule importing(String name, String imports) {
        return Programs.module(name, imports + "vm.export @f\nvm.func @f() -> () {\n  vm.return\n}\n");
    }

    @Test
    void importsAreFoundInTheModulesBefore() {
        BytecodeModule first = Programs.module(
                "first", "vm.export @two\nvm.func @two() -> (i32) {\n  %i0 = vm.const.i32 2\n  vm.return %i0\n}\n");
        BytecodeModule second = Programs.module(
                "second",
                "vm.import @first.two cconv \"0v_i\"\nvm.import @host.seven cconv \"0v_i\"\nvm.export @sum\n"
                        + "vm.func @sum() -> (i32) {\n  %i0 = vm.call @first.two()\n  %i1 = vm.call @host.seven()\n"
                        + "  %i0 = vm.add.i32 %i0, %i1\n  vm.return %i0\n}\n");
        try (Programs.Running program = Programs.run(noting("host", 0), first, second);
                Invocation call = program.call("second.sum")) {
            call.run();
            assertThat(call.i32()).isEqualTo(9);
        }
    }

    @Test
    void laterModuleOfANameHidesTheEarlier() {
        NativeModule one = NativeModule.builder("host", 0, () -> "")
                .function("id", "0v_i", (s, c) -> c.returnI32(1))
                .build();
        NativeModule two = NativeModule.builder("host", 0, () -> "")
                .function("id", "0v_i", (s, c) -> c.returnI32(2))
                .build();
        BytecodeModule module = Programs.module(
                "m",
                "vm.import @host.id cconv \"0v_i\"\nvm.export @f\nvm.func @f() -> (i32) {\n  %i0 = vm.call @host.id()\n"
                        + "  vm.return %i0\n}\n");
        try (Programs.Running program = Programs.run(one, two, module);
                Invocation call = program.call("m.f")) {
            call.run();
            assertThat(call.i32()).isEqualTo(2);
        }
    }

    @Test
    void generationOfAnImportIsChosenByItsConvention() {
        NativeModule host = NativeModule.builder("host", 0, () -> "")
                .function("dispatch", "0i_i", (s, c) -> c.returnI32(c.i32() + 32))
                .function("dispatch", "0I_i", (s, c) -> c.returnI32((int) c.i64() + 64))
                .build();
        for (String[] generation : new String[][] {{"i", "%i0", "33"}, {"I", "%i0:1", "65"}}) {
            BytecodeModule module = Programs.module(
                    "m",
                    "vm.import @host.dispatch cconv \"0%s_i\"\nvm.export @f\nvm.func @f() -> (i32) {\n  %s = vm.const.i%s 1\n"
                                    .formatted(generation[0], generation[1], generation[0].equals("i") ? "32" : "64")
                            + "  %i0 = vm.call @host.dispatch(" + generation[1] + ")\n  vm.return %i0\n}\n");
            try (Programs.Running program = Programs.run(host, module);
                    Invocation call = program.call("m.f")) {
                call.run();
                assertThat(call.i32()).isEqualTo(Integer.parseInt(generation[2]));
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "vm.import @absent.f cconv \"0v_v\" | NOT_FOUND | module 'm' imports 'absent.f' with convention '0v_v', but there is no module 'absent' (linked before it: host)",
                "vm.import @host.absent cconv \"0v_v\" | NOT_FOUND | module 'm' imports 'host.absent' with convention '0v_v', but module 'host' of version 5 has no such function (linked before it: host)",
                "vm.import @host.note cconv \"0r_v\" | INTERNAL | module 'm' imports 'host.note' with convention '0r_v', but module 'host' of version 5 has it with '0i_v'; recompile for this version",
                "vm.import optional @host.note cconv \"0r_v\" | INTERNAL | has it with '0i_v'",
                "vm.import @m.f cconv \"0v_v\" | NOT_FOUND | there is no module 'm'",
                "vm.import @nodot cconv \"0v_v\" | NOT_FOUND | imports 'nodot'",
                "vm.dependency @absent version 2 | NOT_FOUND | module 'm' needs module 'absent' of version 2 or later, which is missing (linked before it: host)",
                "vm.dependency @host version 6 | NOT_FOUND | module 'm' needs module 'host' of version 6 or later, found version 5",
                "vm.dependency @host version 4294967295 | NOT_FOUND | module 'm' needs module 'host' of version 4294967295 or later"
            })
    void missingModulesAndImportsAreNamed(String line, String code, String message) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> Programs.run(noting("host", 5), importing("m", line + "\n")))
                .withMessageContaining(message)
                .matches(e -> e.code() == StatusCode.valueOf(code), code);
        assertThat(events).containsExactly("close host");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "vm.import optional @absent.f cconv \"0v_v\"",
                "vm.import optional @host.absent cconv \"0v_v\"",
                "vm.dependency @absent version 2 optional",
                "vm.dependency @host version 6 optional",
                "vm.dependency @host version 5"
            })
    void optionalModulesAndImportsMayBeMissing(String line) {
        Programs.run(noting("host", 5), importing("m", line + "\n")).close();
    }

    @Test
    void missingOptionalImportIsKnownAndItsCallFails() {
        BytecodeModule module = Programs.module(
                "m",
                "vm.import optional @absent.f cconv \"0v_v\"\nvm.import optional @host.seven cconv \"0v_i\"\n"
                        + "vm.export @has\nvm.func @has() -> (i32, i32) {\n  %i0 = vm.import.resolved @absent.f\n"
                        + "  %i1 = vm.import.resolved @host.seven\n  vm.return %i0, %i1\n}\n"
                        + "vm.export @call\nvm.func @call() -> () {\n  vm.call @absent.f()\n  vm.return\n}\n");
        try (Programs.Running program = Programs.run(noting("host", 0), module);
                Invocation has = program.call("m.has");
                Invocation call = program.call("m.call")) {
            has.run();
            assertThat(has.i32()).isZero();
            assertThat(has.i32()).isEqualTo(1);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(call::run)
                    .withMessageContaining("optional import 'absent.f' with convention '0v_v' was not found")
                    .matches(e -> e.code() == StatusCode.NOT_FOUND);
        }
    }

    private static String hooks(int number) {
        String text = "vm.import @host.note cconv \"0i_v\"\n";
        for (String name : List.of("__init", "__deinit")) {
            text +=
                    "vm.export @%s\nvm.func @%s() -> () {\n  %%i0 = vm.const.i32 %d\n  vm.call @host.note(%%i0)\n  vm.return\n}\n"
                            .formatted(name, name, name.equals("__init") ? number : -number);
        }
        return text;
    }

    @Test
    void hooksRunInOrderAndBackwards() {
        Programs.run(noting("host", 0), Programs.module("a", hooks(1)), Programs.module("b", hooks(2)))
                .close();
        assertThat(events).containsExactly("host 1", "host 2", "host -2", "host -1", "close host");
    }

    @Test
    void failingInitTakesEverythingDown() {
        BytecodeModule failing = Programs.module(
                "bad",
                "vm.export @__init\nvm.func @__init() -> () {\n  %i0 = vm.const.i32 9\n  vm.fail %i0, \"no device\"\n}\n");
        BytecodeModule before = Programs.module("a", hooks(1));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> Programs.run(noting("host", 0), before, failing))
                .withMessage("no device; in @bad.__init+0x8")
                .matches(e -> e.code() == StatusCode.FAILED_PRECONDITION);
        assertThat(events).containsExactly("host 1", "host -1", "close host");
        assertThat(before.isLive()).isFalse();
        assertThat(failing.isLive()).isFalse();
    }

    @Test
    void contextsShareCodeAndNothingElse() {
        BytecodeModule module = Programs.module(
                "m",
                "vm.global.i32 mutable @n\nvm.export @next\nvm.func @next() -> (i32) {\n  %i0 = vm.global.load.i32 @n\n"
                        + "  %i1 = vm.const.i32 1\n  %i0 = vm.add.i32 %i0, %i1\n  vm.global.store.i32 %i0, @n\n"
                        + "  vm.return %i0\n}\n");
        try (module;
                Context one = Context.create(List.of(module), ContextOptions.DEFAULTS);
                Context other = Context.create(List.of(module), ContextOptions.DEFAULTS)) {
            assertThat(next(one)).isEqualTo(1);
            assertThat(next(one)).isEqualTo(2);
            assertThat(next(other)).isEqualTo(1);
        }
    }

    private static int next(Context context) {
        try (Invocation call = context.invocation(Objects.requireNonNull(context.function("m.next")))) {
            call.run();
            return call.i32();
        }
    }

    @Test
    void aModuleStaysOpenWhileAContextUsesIt() {
        BytecodeModule module = importing("m", "");
        Context context = Context.create(List.of(module), ContextOptions.DEFAULTS);
        module.close();
        try (Invocation call = context.invocation(Objects.requireNonNull(context.function("m.f")))) {
            call.run();
        }
        assertThat(module.isLive()).isTrue();
        context.close();
        assertThat(module.isLive()).isFalse();
    }

    @Test
    void closedContextGivesNoInvocations() {
        BytecodeModule module = importing("m", "");
        Context context = Context.create(List.of(module), ContextOptions.DEFAULTS);
        var function = Objects.requireNonNull(context.function("m.f"));
        Invocation prepared = context.invocation(function);
        context.close();
        context.close();
        module.close();
        for (Runnable use : List.<Runnable>of(() -> context.invocation(function), prepared::run)) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(use::run)
                    .withMessageContaining("is closed")
                    .matches(e -> e.code() == StatusCode.FAILED_PRECONDITION);
        }
    }

    @Test
    void closingFromWithinACallWaitsForItsEnd() {
        Context[] context = new Context[1];
        NativeModule closer = NativeModule.builder("host", 0, () -> new AutoCloseable() {
                    @Override
                    public void close() {
                        events.add("closed");
                    }
                })
                .function("close", "0v_i", (s, c) -> {
                    context[0].close();
                    events.add("still there");
                    c.returnI32(3);
                })
                .build();
        BytecodeModule module = Programs.module(
                "m",
                "vm.import @host.close cconv \"0v_i\"\nvm.export @f\nvm.func @f() -> (i32) {\n  %i0 = vm.call @host.close()\n"
                        + "  vm.return %i0\n}\n");
        try (module) {
            context[0] = Context.create(List.of(closer, module), ContextOptions.DEFAULTS);
            try (Invocation call = context[0].invocation(Objects.requireNonNull(context[0].function("m.f")))) {
                call.run();
                assertThat(call.i32()).isEqualTo(3);
            }
        }
        assertThat(events).containsExactly("still there", "closed");
    }

    @Test
    void modulesInJavaHaveDependenciesToo() {
        VmModule needy = NativeModule.builder("needy", 0, () -> "")
                .dependency(new VmDependency("host", 9, true))
                .build();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> Programs.run(noting("host", 8), needy))
                .withMessageContaining("module 'needy' needs module 'host' of version 9 or later, found version 8");
    }
}
