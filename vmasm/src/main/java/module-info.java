/** The text form of bytecode modules. For this project's own modules. */
@SuppressWarnings("module") // the named module is not on the path of this compilation
module io.github.iree4j.vmasm {
    requires transitive io.github.iree4j.runtime;
    requires static transitive org.jspecify;

    exports io.github.iree4j.vm.asm to
            io.github.iree4j.tools;
}
