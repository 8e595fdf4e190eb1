/** What drivers of devices with streams share, and the interface that such a driver implements. */
module io.github.iree4j.backend.stream {
    requires transitive io.github.iree4j.runtime;
    requires static transitive org.jspecify;
    requires org.slf4j;

    exports io.github.iree4j.hal.stream;
}
