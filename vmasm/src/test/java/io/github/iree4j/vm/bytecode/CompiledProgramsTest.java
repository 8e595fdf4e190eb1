package io.github.iree4j.vm.bytecode;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

// VM-1, VM-2
/** The properties of interpreted programs hold for compiled programs. */
class CompiledProgramsTest {
    @BeforeAll
    static void compile() {
        Programs.compile(Compilation.EAGER);
    }

    @AfterAll
    static void interpret() {
        Programs.compile(Compilation.byDefault());
    }

    @Nested
    class Cancellation extends CancellationTest {}

    @Nested
    class Invocations extends InvocationTest {}

    @Nested
    class Limits extends LimitsTest {}

    @Nested
    class Linking extends LinkingTest {}

    @Nested
    class Ownership extends OwnershipTest {}

    @Nested
    class Sharing extends SharingTest {}

    @Nested
    class Yields extends YieldTest {}
}
