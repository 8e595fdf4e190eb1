/** The flight recorder. For this project's own modules. */
@SuppressWarnings("module") // the named ones are not on the path when this is compiled
module io.github.iree4j.recorder {
    requires transitive io.github.iree4j.runtime;
    requires io.github.iree4j.virtual.devices;
    requires static transitive org.jspecify;
    requires org.slf4j;

    exports io.github.iree4j.flight to
            io.github.iree4j.spring,
            io.github.iree4j.spring.test,
            io.github.iree4j.tools;
}
