/** The CUDA and HIP drivers, found as services. */
@SuppressWarnings("module") // the named module is not on the path of this compilation
module io.github.iree4j.backend.gpu {
    requires transitive io.github.iree4j.backend.stream;
    requires static transitive org.jspecify;
    requires jdk.management; // how much memory the machine or container has
    requires org.slf4j;

    exports io.github.iree4j.hal.gpu to
            io.github.iree4j.tools;

    provides io.github.iree4j.hal.spi.DriverProvider with
            io.github.iree4j.hal.gpu.CudaDriverProvider,
            io.github.iree4j.hal.gpu.HipDriverProvider;
}
