/** Scenarios of work on several kinds of hardware, run on virtual devices. For this project's own modules. */
@SuppressWarnings("module") // the named modules are not on the path of this compilation
module io.github.iree4j.laboratory {
    requires transitive io.github.iree4j.runtime;
    requires io.github.iree4j.virtual.devices;
    requires static transitive org.jspecify;
    requires org.yaml.snakeyaml;

    exports io.github.iree4j.lab to
            io.github.iree4j.spring,
            io.github.iree4j.spring.test,
            io.github.iree4j.tools;
}
