//! Links the addon for Node and keeps its image mapped.

fn main() {
    napi_build::setup();
    // Our threads outlive a worker that loaded the addon. Without this Node would unmap
    // their code when the last environment that uses the addon ends.
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
