/** Runtime core for compiled ML programs. */
@SuppressWarnings("module") // the named ones are not on the path when this is compiled
module io.github.iree4j.runtime {
    requires static transitive org.jspecify;
    requires org.slf4j;
    requires jdk.management; // how much memory the machine or container has

    exports io.github.iree4j;
    exports io.github.iree4j.api;
    exports io.github.iree4j.async;
    exports io.github.iree4j.async.io;
    exports io.github.iree4j.frontier;
    exports io.github.iree4j.call to
            io.github.iree4j.backend.vulkan;
    exports io.github.iree4j.flatbuffer to
            io.github.iree4j.backend.gpu,
            io.github.iree4j.backend.vulkan,
            io.github.iree4j.vmasm;
    exports io.github.iree4j.hal;
    exports io.github.iree4j.hal.collective to
            io.github.iree4j.backend.stream;
    exports io.github.iree4j.hal.loader;
    exports io.github.iree4j.hal.local to
            io.github.iree4j.virtual.devices;
    exports io.github.iree4j.hal.pool;
    exports io.github.iree4j.hal.record;
    exports io.github.iree4j.hal.schedule;
    exports io.github.iree4j.hal.spi;
    exports io.github.iree4j.hal.storage;
    exports io.github.iree4j.lifetime;
    exports io.github.iree4j.module;
    exports io.github.iree4j.modules.check to
            io.github.iree4j.tools;
    exports io.github.iree4j.modules.parameters;
    exports io.github.iree4j.monitor;
    exports io.github.iree4j.nativeaccess to
            io.github.iree4j.backend.gpu,
            io.github.iree4j.backend.stream,
            io.github.iree4j.backend.vulkan;
    exports io.github.iree4j.status;
    exports io.github.iree4j.task;
    exports io.github.iree4j.tensor to
            io.github.iree4j.backend.vulkan;
    exports io.github.iree4j.vm;
    exports io.github.iree4j.vm.bytecode;
    exports io.github.iree4j.vm.isa to
            io.github.iree4j.vmasm;

    uses io.github.iree4j.vm.bytecode.ProgramCheck;
    uses io.github.iree4j.hal.spi.DriverProvider;
    uses io.github.iree4j.hal.loader.ExecutableLoader;
    uses io.github.iree4j.vm.ModuleProvider;

    provides io.github.iree4j.hal.spi.DriverProvider with
            io.github.iree4j.hal.local.LocalDriverProvider;
}
