//! Small inputs of each kind, made in a fresh folder.

use crate::support::call;
use std::fs;
use tempfile::TempDir;

/// What a lab run of aes-256-ccm looks like when it is folded.
pub const CCM: &str = "\
z_rd_int;zio_execute;zio_decrypt;zio_do_crypt_uio;aes_decrypt_atomic;ccm_mode_decrypt_contiguous_blocks;aes_encrypt_block;aes_encrypt_intel;kfpu_end 247
z_rd_int;zio_execute;zio_decrypt;zio_do_crypt_uio;aes_decrypt_atomic;ccm_mode_decrypt_contiguous_blocks;aes_encrypt_block;aes_encrypt_intel;kfpu_begin 212
z_rd_int;zio_execute;zio_decrypt;zio_do_crypt_uio;aes_decrypt_atomic;ccm_mode_decrypt_contiguous_blocks;aes_encrypt_block;aes_encrypt_intel 144
z_rd_int;zio_execute;zio_decrypt;zio_do_crypt_uio;aes_decrypt_atomic;ccm_mode_decrypt_contiguous_blocks;aes_xor_block 74
z_rd_int;zio_execute;zio_decrypt;zio_do_crypt_uio;aes_decrypt_atomic;ccm_mode_decrypt_contiguous_blocks 45
dd;read;zfs_read;dmu_read_uio_dbuf;uiomove;copy_user_enhanced_fast_string 60
swapper;do_idle;intel_idle 100
";

/// The same host without encryption.
pub const PLAIN: &str = "\
z_rd_int;zio_execute;zio_checksum_verify;fletcher_4_avx2_native 40
dd;read;zfs_read;dmu_read_uio_dbuf;uiomove;copy_user_enhanced_fast_string 60
swapper;do_idle;intel_idle 782
";

pub const EVIDENCE: &str = r#"{
  "zwhy_evidence": 1, "zfs_version": "2.1.5", "kernel": "5.15.0", "os": "Debian 12",
  "perf_top": [
    {"pct": 24.7, "module": "[zfs]", "symbol": "kfpu_end"},
    {"pct": 21.2, "module": "[zfs]", "symbol": "kfpu_begin"},
    {"pct": 4.5, "module": "[icp]", "symbol": "ccm_mode_decrypt_contiguous_blocks"}
  ],
  "threads_cpu": [{"comm": "z_rd_int", "cpu_pct": 99.0}],
  "arcstats": {"size": 1000000, "c": 2000000},
  "props": {"encryption": "aes-256-ccm"}
}
"#;

pub const PASTED: &str = "\
My server became slow after the upgrade. This is perf top:

  24.70%  [kernel]  [k] kfpu_end
  21.20%  [kernel]  [k] kfpu_begin
  14.40%  [icp]     [k] aes_encrypt_intel
   4.50%  [icp]     [k] ccm_mode_decrypt_contiguous_blocks

Can anybody help?
";

/// Names that would clear the screen, set the title, reorder text or be markup.
pub const HOSTILE: &str = "\
dd;a\u{1b}[2Jred;b\u{1b}]0;title\u{7} 5
dd;\u{202e}evil;<script>alert(1)</script>;c\u{9b}31m 3
dd;zio_execute;back`tick|pipe*;\u{7f}del 2
";

/// A folder with all of them: `ccm.folded`, `plain.folded`, `evidence.json`, `pasted.txt`,
/// `hostile.folded`, the captures `ccm.zwhy` and `cut.zwhy`.
pub fn folder() -> TempDir {
    let folder = bare_folder();
    let path = folder.path();
    call(path, "import ccm.folded -o ccm.zwhy").ok();
    let whole = fs::read(path.join("ccm.zwhy")).expect("the capture");
    fs::write(path.join("cut.zwhy"), &whole[..whole.len() * 9 / 10]).expect("a file");
    folder
}

/// The same without captures.
pub fn bare_folder() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let texts = [
        ("ccm.folded", CCM),
        ("plain.folded", PLAIN),
        ("evidence.json", EVIDENCE),
        ("pasted.txt", PASTED),
        ("hostile.folded", HOSTILE),
    ];
    for (name, text) in texts {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}
