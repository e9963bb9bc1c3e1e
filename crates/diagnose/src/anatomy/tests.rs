//! Whole stacks through the embedded anatomy.

use crate::anatomy::Anatomy;
use crate::classify::classify;
use crate::knowledge::Knowledge;
use zwhy_profile::{FrameKind, Profile, StackId};

/// `module!function` or a function of the kernel, root first; the leaf's stage and label.
fn leaf(frames: &[&str], anatomy: &Anatomy) -> (String, String) {
    let mut p = Profile::new();
    let ids: Vec<_> = frames
        .iter()
        .map(|f| match f.split_once('!') {
            Some((module, function)) => p.frame(function, module, FrameKind::Unknown),
            None => p.frame(f, "", FrameKind::Kernel),
        })
        .collect();
    let stack: StackId = p.stack(&ids);
    let c = classify(&p, anatomy);
    let label = c.labels[usize::from(c.node_label[stack.index()])].clone();
    (c.stage_name(c.of_functions(stack)).to_owned(), label)
}

#[test]
fn stacks_of_real_hosts_land_where_a_reader_would_put_them() {
    let anatomy = Knowledge::embedded().anatomy;
    for (frames, stage, label) in [
        (
            &["zfs!zio_execute", "zfs!zio_decrypt", "icp!aes_encrypt_block", "icp!kfpu_end"][..],
            "decrypt",
            "FPU state",
        ),
        (
            &["zio_execute", "zio_do_crypt_data", "ccm_mode_decrypt_contiguous_blocks", "aes_xor_block"],
            "decrypt",
            "",
        ),
        (
            &[
                "l2arc_feed_thread",
                "l2arc_write_buffers",
                "zio_do_crypt_data",
                "gcm_mode_encrypt_contiguous_blocks",
            ],
            "l2arc",
            "",
        ),
        (
            &[
                "do_syscall_64",
                "zpl_iter_read",
                "zfs_read",
                "dmu_read_uio_dnode",
                "zfs_uiomove",
                "copy_user_generic",
            ],
            "copy",
            "copy",
        ),
        (
            &["zfs!taskq_thread", "zfs!zio_execute", "zfs!zio_write_compress", "zlib_deflate!longest_match"],
            "compress",
            "",
        ),
        (&["gzip!main", "libz.so.1!deflate"], "not zfs", ""),
        (&["btrfs!btrfs_compress", "lib!longest_match"], "not zfs", ""),
        (&["zfs!zvol_request", "spl!taskq_dispatch", "native_queued_spin_lock_slowpath"], "taskq", "lock"),
        (&["do_idle", "cpuidle_enter_state", "intel_idle"], "idle", ""),
        (&["do_idle", "asm_common_interrupt", "handle_irq_event", "nvme_irq"], "not zfs", ""),
        (&["do_idle", "asm_common_interrupt", "bio_endio", "zfs!vdev_disk_physio_completion"], "device", ""),
        (&["zfs!zio_execute", "asm_sysvec_apic_timer_interrupt", "update_process_times"], "not zfs", ""),
        (&["ret_from_fork", "kthread", "worker_thread"], "not zfs", ""),
        (&["zfs!some_new_function"], "unknown", ""),
        (&["zfs!arc_read", "zfs!some_new_function", "zfs!avl_find"], "arc", ""),
        (&["zavl!avl_find"], "library", ""),
        (&["zfs`zfs_read", "zfs`dbuf_hold.isra.0+0x12"], "dbuf", ""),
        (
            &["unix!thread_start", "genunix!taskq_thread", "zfs!zio_execute", "zfs!zio_checksum_verify"],
            "checksum",
            "",
        ),
        (&["unmap_vmas", "zap_pte_range"], "not zfs", "page faults and tables"),
        (&["myprogram!arc_read"], "not zfs", ""),
    ] {
        assert_eq!(leaf(frames, &anatomy), (stage.to_owned(), label.to_owned()), "{frames:?}");
    }
}

#[test]
fn a_function_without_a_name_has_its_callers_stage_else_its_neighbours() {
    let anatomy = Knowledge::embedded().anatomy;
    let of_gcm = "libzpool.so.6!libzpool.so.6+0x286ee0 (gcm_mul_pclmulqdq..aesni_gcm_decrypt)";
    for (frames, stage) in [
        (&[of_gcm][..], "crypto"),
        (&["libzpool.so.6!zio_decrypt", of_gcm], "decrypt"),
        (&["libzpool.so.6!libzpool.so.6+0x10 (arc_read..zil_commit)"], "unknown"),
        (&["libzpool.so.6!libzpool.so.6+0x10"], "unknown"),
        (&["libcrypto.so.3!libcrypto.so.3+0x10 (gcm_mul_pclmulqdq..aesni_gcm_decrypt)"], "not zfs"),
    ] {
        assert_eq!(leaf(frames, &anatomy).0, stage, "{frames:?}");
    }
}
