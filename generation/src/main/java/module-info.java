/** Text generation. For this project's own modules. */
@SuppressWarnings("module") // the named ones are not on the path when this is compiled
module io.github.iree4j.generation {
    requires transitive io.github.iree4j.runtime;
    requires static transitive org.jspecify;
    requires org.slf4j;
    requires tools.jackson.databind;

    exports io.github.iree4j.generation to
            io.github.iree4j.spring.ai,
            io.github.iree4j.tools;
    exports io.github.iree4j.generation.sampling to
            io.github.iree4j.spring.ai,
            io.github.iree4j.tools;
}
