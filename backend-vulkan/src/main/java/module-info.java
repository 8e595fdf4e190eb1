/** The Vulkan driver, found as a service. */
@SuppressWarnings("module") // the named module is not on the path of this compilation
module io.github.iree4j.backend.vulkan {
    requires transitive io.github.iree4j.backend.stream;
    requires static transitive org.jspecify;
    requires org.slf4j;

    exports io.github.iree4j.spirv to
            io.github.iree4j.tools;

    provides io.github.iree4j.vm.bytecode.ProgramCheck with
            io.github.iree4j.hal.vulkan.NarrowElements;
    provides io.github.iree4j.hal.spi.DriverProvider with
            io.github.iree4j.hal.vulkan.VulkanDriverProvider;
}
