/** Portable kernels: executables of VMVX and the module that they import, found as services. */
module io.github.iree4j.vmvx {
    requires transitive io.github.iree4j.runtime;
    requires static transitive org.jspecify;

    provides io.github.iree4j.hal.loader.ExecutableLoader with
            io.github.iree4j.modules.vmvx.VmvxExecutableLoader;
    provides io.github.iree4j.vm.ModuleProvider with
            io.github.iree4j.modules.vmvx.VmvxModule;
}
