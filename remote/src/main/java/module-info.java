/** Devices of other nodes, over any transport. */
module io.github.iree4j.remote {
    requires transitive io.github.iree4j.backend.stream;
    requires static transitive org.jspecify;
    requires org.slf4j;

    exports io.github.iree4j.hal.remote;
}
