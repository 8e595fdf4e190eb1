/** Devices on a virtual clock. For this project's own modules. */
@SuppressWarnings("module") // the named modules are not on the path of this compilation
module io.github.iree4j.virtual.devices {
    requires transitive io.github.iree4j.runtime;
    requires static transitive org.jspecify;

    exports io.github.iree4j.hal.virtual to
            io.github.iree4j.laboratory,
            io.github.iree4j.recorder,
            io.github.iree4j.spring.test;
}
