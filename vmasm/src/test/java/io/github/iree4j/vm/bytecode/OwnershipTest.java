package io.github.iree4j.vm.bytecode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmList;
import io.github.iree4j.vm.VmType;
import io.github.iree4j.vm.VmWait;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every place of a counted object owns one reference: afterwards none is left, and none was released twice. */
class OwnershipTest {
    private static final String IMPORTS = """
            vm.type !test.counted
            vm.type !test.other
            vm.type !vm.list<?>
            vm.type i32
            vm.import @host.make cconv "0v_r"
            vm.import @host.look cconv "0r_v"
            vm.import @host.swap cconv "0r_r"
            vm.import @host.same cconv "0r_r"
            vm.import @host.pair cconv "0v_rr"
            vm.import @host.fail cconv "0r_v"
            vm.import @host.half cconv "0v_rr"
            vm.import @host.wait cconv "0r_r"
            vm.import @host.many cconv "0CrD_v"
            """;

    private final AtomicInteger live = new AtomicInteger();
    private int waits;

    private final NativeModule host = NativeModule.builder("host", 0, () -> "")
            .function("make", "0v_r", (s, c) -> c.returnRef(new Counted(live)))
            .function(
                    "look",
                    "0r_v",
                    (s, c) -> assertThat(c.required(Counted.class).isLive()).isTrue())
            .function("swap", "0r_r", (s, c) -> {
                assertThat(c.required(Counted.class).isLive()).isTrue();
                c.returnRef(new Counted(live));
            })
            .function("same", "0r_r", (s, c) -> {
                Counted counted = c.required(Counted.class);
                counted.retain();
                c.returnRef(counted);
            })
            .function("pair", "0v_rr", (s, c) -> {
                c.returnRef(new Counted(live));
                c.returnRef(new Counted(live));
            })
            .function("fail", "0r_v", (s, c) -> {
                throw IreeException.of(StatusCode.ABORTED, "as told");
            })
            .function("half", "0v_rr", (s, c) -> {
                c.returnRef(new Counted(live));
                throw new IllegalStateException("half way");
            })
            .function("wait", "0r_r", (s, c) -> {
                Counted counted = c.required(Counted.class);
                if (waits-- > 0) {
                    c.defer(VmWait.NONE);
                    return;
                }
                counted.retain();
                c.returnRef(counted);
            })
            .function("many", "0CrD_v", (s, c) -> {
                int count = c.spanCount();
                for (int i = 0; i < count; i++) {
                    c.ref(Counted.class);
                }
            })
            .build();

    @AfterEach
    void nothingIsLeft() {
        assertThat(live).hasValue(0);
    }

    /** Programs of a single function without arguments and results; the last column is the failure, if any. */
    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "left in a register | %r0 = vm.call @host.make() | ",
                "overwritten | %r0 = vm.call @host.make();%r0 = vm.call @host.make() | ",
                "dropped | %r0 = vm.call @host.make();vm.discard.refs %r0;vm.discard.refs %R0 | ",
                "set to null | %r0 = vm.call @host.make();%r0 = vm.const.ref.zero | ",
                "copied | %r0 = vm.call @host.make();%r1 = vm.assign.ref %r0 | ",
                "moved | %r0 = vm.call @host.make();%r1 = vm.assign.ref %R0 | ",
                "copied to itself | %r0 = vm.call @host.make();%r0 = vm.assign.ref %r0 | ",
                "moved to itself | %r0 = vm.call @host.make();%r0 = vm.assign.ref %R0 | ",
                "lent to an import | %r0 = vm.call @host.make();vm.call @host.look(%r0) | ",
                "given to an import | %r0 = vm.call @host.make();vm.call @host.look(%R0) | ",
                "given and lent at once | %r0 = vm.call @host.make();%r1 = vm.call @host.swap(%r0);vm.call.variadic @host.many segments[2](%r0, %R0) | ",
                "given twice at once | %r0 = vm.call @host.make();vm.call.variadic @host.many segments[2](%R0, %R0) | ",
                "exchanged in place | %r0 = vm.call @host.make();%r0 = vm.call @host.swap(%R0) | ",
                "exchanged over a copy | %r0 = vm.call @host.make();%r0 = vm.call @host.swap(%r0) | ",
                "given back in place | %r0 = vm.call @host.make();%r0 = vm.call @host.same(%R0) | ",
                "two results in one register | %r0, %r0 = vm.call @host.pair() | ",
                "lent to a function | %r0 = vm.call @host.make();%r1 = vm.call @m:1(%r0) | ",
                "given to a function | %r0 = vm.call @host.make();%r0 = vm.call @m:1(%R0) | ",
                "kept by a function | %r0 = vm.call @host.make();vm.call @m:2(%R0) | ",
                "stored in a global | %r0 = vm.call @host.make();vm.global.store.ref %R0, .refs[0] : !test.counted | ",
                "stored over a global | %r0, %r1 = vm.call @host.pair();vm.global.store.ref %r0, .refs[0] : !test.counted;vm.global.store.ref %R1, .refs[0] : !test.counted | ",
                "loaded from a global | %r0 = vm.call @host.make();vm.global.store.ref %R0, .refs[0] : !test.counted;%r1 = vm.global.load.ref .refs[0] : !test.counted | ",
                "taken from a global | %r0 = vm.call @host.make();vm.global.store.ref %R0, .refs[0] : !test.counted;%R1 = vm.global.load.ref .refs[0] : !test.counted | ",
                "of the wrong type for a global | %r0 = vm.call @host.make();vm.global.store.ref %R0, .refs[0] : !test.other | INVALID_ARGUMENT",
                "cast | %r0 = vm.call @host.make();%r1 = vm.cast.any.ref %R0 : !vm.ref<?> -> !test.counted | ",
                "cast wrongly | %r0 = vm.call @host.make();%r1 = vm.cast.any.ref %R0 : !vm.ref<?> -> !test.other | INVALID_ARGUMENT",
                "failed with | %r0 = vm.call @host.make();%i0 = vm.const.i32 10;vm.fail %i0, \"done\" | ABORTED",
                "lent to an import that fails | %r0 = vm.call @host.make();vm.call @host.fail(%r0) | ABORTED",
                "given to an import that fails | %r0 = vm.call @host.make();vm.call @host.fail(%R0) | ABORTED",
                "half of the results | %r0, %r1 = vm.call @host.half() | INTERNAL",
                "given to a function that fails | %r0 = vm.call @host.make();vm.call @m:3(%R0) | ABORTED",
                "given to an import that waits | %r0 = vm.call @host.make();%r0 = vm.call @host.wait(%R0) | "
            })
    void nothingIsLeftOf(String claim, String code, String failure) {
        waits = 3;
        String text = IMPORTS
                + "vm.state bytes 0 refs 1\nvm.export @f\nvm.func @f() -> () {\n^bb0:\n"
                + code.replace(';', '\n')
                + (code.contains("vm.fail") ? "\n}\n" : "\n  vm.return\n}\n")
                + "vm.func @same(%r0: !test.counted) -> (!test.counted) {\n  vm.return %r0\n}\n"
                + "vm.func @keep(%r0: !test.counted) -> () {\n  %r1 = vm.assign.ref %r0\n  vm.return\n}\n"
                + "vm.func @fails(%r0: !test.counted) -> () {\n  %r1 = vm.assign.ref %r0\n  vm.call @host.fail(%r0)\n  vm.return\n}\n";
        try (Programs.Running program = Programs.run(host, Programs.module("m", text));
                Invocation call = program.call("m.f")) {
            for (int i = 0; i < 2; i++) {
                if (failure == null) {
                    call.run();
                } else {
                    assertThatExceptionOfType(IreeException.class)
                            .isThrownBy(call::run)
                            .matches(e -> e.code() == StatusCode.valueOf(failure), failure);
                    assertThat(live).hasValue(0);
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "select, first | %r2 = vm.select.ref %i1 ? %r0 : %r1 -> !test.counted",
                "select, second moved | %r2 = vm.select.ref %i0 ? %r0 : %R1 -> !test.counted",
                "select, both moved | %r2 = vm.select.ref %i1 ? %R0 : %R1 -> !test.counted",
                "select onto itself | %r0 = vm.select.ref %i1 ? %R0 : %R1 -> !test.counted",
                "select onto the other | %r1 = vm.select.ref %i1 ? %R0 : %R1 -> !test.counted",
                "switch, default | %r2 = vm.switch.ref %i2 [%r0, %r1] else %R0 -> !test.counted",
                "switch, case | %r2 = vm.switch.ref %i1 [%r0, %R1] else %r0 -> !test.counted",
                "switch, all moved | %r1 = vm.switch.ref %i0 [%R0, %R1] else %R0 -> !test.counted"
            })
    void choiceLeavesNothing(String claim, String code) {
        String text = IMPORTS
                + "vm.export @f\nvm.func @f() -> () {\n  vm.registers values 4 refs 3\n^bb0:\n  %i0 = vm.const.i32.zero\n"
                + "  %i1 = vm.const.i32 1\n  %i2 = vm.const.i32 9\n  %r0, %r1 = vm.call @host.pair()\n"
                + code
                + "\n  vm.return\n}\n";
        runOnce(text);
    }

    @Test
    void branchesCopyAndMove() {
        runOnce(IMPORTS
                + "vm.export @f\nvm.func @f() -> () {\n^bb0:\n  %i0 = vm.const.i32 1\n  %r0 = vm.call @host.make()\n"
                + "  vm.br ^bb1(%r0->%r1, %R0->%r2)\n"
                + "^bb1:\n  vm.cond_br %i0, ^bb2(%R1->%r0, %r0->%r2), ^bb3(%R2->%r1)\n"
                + "^bb2:\n  %i0 = vm.const.i32.zero\n  vm.br_table %i0 { default: ^bb3(), 0: ^bb1(%R2->%r0) }\n"
                + "^bb3:\n  vm.return\n}\n");
    }

    @Test
    void listsOwnTheirElements() {
        runOnce(IMPORTS
                + "vm.export @f\nvm.func @f() -> () {\n^bb0:\n  %i0 = vm.const.i32.zero\n  %i1 = vm.const.i32 1\n"
                + "  %i2 = vm.const.i32 2\n  %r0, %r1 = vm.call @host.pair()\n  %r2 = vm.list.alloc %i2 : !vm.list<!test.counted>\n"
                + "  vm.list.resize %r2, %i2\n  vm.list.set.ref %r2, %i0, %r0\n"
                + "  vm.list.set.ref %r2, %i1, %R1\n  vm.list.set.ref %r2, %i0, %R0\n"
                + "  %r0 = vm.list.get.ref %r2, %i0 : !test.counted\n  %R1 = vm.list.get.ref %r2, %i1 : !test.counted\n"
                + "  %r3 = vm.list.get.ref %r2, %i0 : !test.other\n  %R3 = vm.list.get.ref %r2, %i0 : !test.other\n"
                + "  vm.list.resize %r2, %i1\n  vm.list.set.ref %r2, %i0, %r0\n  vm.return\n}\n");
    }

    @Test
    void aTakenResultBelongsToTheCaller() {
        String text = IMPORTS
                + "vm.export @f\nvm.func @f() -> (!test.counted, !test.counted) {\n^bb0:\n  %r0 = vm.call @host.make()\n"
                + "  vm.return %r0, %R0\n}\n";
        try (Programs.Running program = Programs.run(host, Programs.module("m", text))) {
            Counted taken;
            try (Invocation call = program.call("m.f")) {
                call.run();
                taken = Objects.requireNonNull(call.takeRef(Counted.class));
                assertThat(call.ref(Counted.class)).isSameAs(taken);
                assertThat(live).hasValue(1);
            }
            assertThat(taken.isLive()).isTrue();
            taken.release();
            assertThat(live).hasValue(0);
        }
    }

    @Test
    void resultsNotTakenAreReleasedWithTheNextCall() {
        String text = IMPORTS
                + "vm.export @f\nvm.func @f() -> (!test.counted) {\n  %r0 = vm.call @host.make()\n  vm.return %R0\n}\n";
        try (Programs.Running program = Programs.run(host, Programs.module("m", text));
                Invocation call = program.call("m.f")) {
            for (int i = 0; i < 5; i++) {
                call.run();
                assertThat(live).hasValue(1);
            }
        }
    }

    @Test
    void anArgumentIsHeldOnlyWhileTheCallRuns() {
        String text = IMPORTS
                + "vm.export @f\nvm.func @f(%r0: !test.counted) -> () {\n  vm.call @host.look(%R0)\n  vm.return\n}\n";
        try (Programs.Running program = Programs.run(host, Programs.module("m", text));
                Invocation call = program.call("m.f")) {
            Counted argument = new Counted(live);
            call.ref(argument);
            argument.close();
            assertThat(live).hasValue(1);
            call.run();
            assertThat(live).hasValue(0);
            call.ref(new Counted(live));
            call.reset();
        } finally {
            // The last object was never closed by its creator.
            live.decrementAndGet();
        }
    }

    @Test
    void anAbandonedWaitingCallLeavesNothing() {
        waits = Integer.MAX_VALUE;
        String text = IMPORTS
                + "vm.export @f\nvm.func @f() -> () {\n  %r0 = vm.call @host.make()\n  vm.call @m:1(%r0)\n  vm.return\n}\n"
                + "vm.func @g(%r0: !test.counted) -> () {\n  %r1 = vm.call @host.make()\n"
                + "  vm.call.yieldable @host.wait(%R0) -> ^bb1(%r0)\n^bb1:\n  vm.return\n}\n";
        try (Programs.Running program = Programs.run(host, Programs.module("m", text));
                Invocation call = program.call("m.f")) {
            assertThat(call.start()).isFalse();
            assertThat(live).hasValue(2);
            call.reset();
            assertThat(live).hasValue(0);
            assertThat(call.start()).isFalse();
            call.cancel();
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(call::resume)
                    .matches(e -> e.code() == StatusCode.CANCELLED);
            assertThat(live).hasValue(0);
            call.reset();
            assertThat(call.start()).isFalse();
        }
    }

    @Test
    void globalsLiveAsLongAsTheContext() {
        String text = IMPORTS
                + "vm.state bytes 0 refs 1\nvm.export @f\nvm.func @f() -> () {\n  %r0 = vm.call @host.make()\n"
                + "  vm.global.store.ref %R0, .refs[0] : !test.counted\n  vm.return\n}\n";
        try (Programs.Running program = Programs.run(host, Programs.module("m", text));
                Invocation call = program.call("m.f")) {
            call.run();
            assertThat(live).hasValue(1);
        }
    }

    @Test
    void chainOfAMillionListsIsFreedWithoutRecursion() {
        VmList head = VmList.create(VmType.ref("vm.list", VmList.class), 1);
        head.resize(1);
        VmList last = head;
        for (int i = 0; i < 1_000_000; i++) {
            VmList next = VmList.create(VmType.ref("vm.list", VmList.class), 1);
            next.resize(1);
            last.setOwnedRef(0, next);
            last = next;
        }
        last.setOwnedRef(0, null);
        head.close();
        assertThat(last.isLive()).isFalse();
    }

    private void runOnce(String text) {
        try (Programs.Running program = Programs.run(host, Programs.module("m", text));
                Invocation call = program.call("m.f")) {
            call.run();
        }
    }
}
